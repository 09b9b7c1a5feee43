"""Authors see and fill their own packs, and nobody else's."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from apps.stickers.models import StickerPack
from apps.whatsapp_auth.models import LidMapping
from tests.stickers.factories import make_pack, png_bytes, webp_bytes
from tests.whatsapp_auth.factories import LID, make_session

pytestmark = pytest.mark.django_db

OWNER = "5511987654321@s.whatsapp.net"


@pytest.fixture
def author(client: Client) -> Client:
    opened = make_session(now=timezone.now() - timedelta(minutes=1))
    client.cookies[settings.WEB_SESSION_COOKIE_NAME] = opened.token
    return client


def upload(name: str, data: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data, "image/webp")


def test_visitors_are_sent_to_sign_in(client: Client) -> None:
    answer = client.get("/my/packs")
    assert (answer.status_code, answer["Location"]) == (302, "/login/")


def test_an_author_makes_a_pack_and_fills_it(author: Client) -> None:
    wish = {"name": "Cups", "publisher": "Ana", "visibility": "public"}
    made = author.post("/my/packs", wish)
    pack = StickerPack.objects.get()
    assert made["Location"] == f"/my/packs/{pack.pack_key}"
    files = [upload("a.webp", webp_bytes("a")), upload("b.webp", webp_bytes("b"))]
    answer = author.post(made["Location"], {"stickers": files, "emojis": "🙂"}, follow=True)
    assert "2 stickers added." in answer.content.decode()
    assert (pack.owner_jid, pack.items.count()) == (OWNER, 2)


def test_a_bad_file_is_named_and_the_others_go_in(author: Client) -> None:
    pack = make_pack(owner_jid=OWNER)
    files = [upload("good.webp", webp_bytes("g")), upload("bad.webp", png_bytes())]
    address = f"/my/packs/{pack.pack_key}"
    shown = author.post(address, {"stickers": files}, follow=True).content.decode()
    assert "bad.webp was not added: The file is not a WebP image." in shown
    assert "1 sticker added." in shown
    assert pack.items.count() == 1


def test_packs_made_under_ones_lid_are_ones_own(author: Client) -> None:
    LidMapping.objects.create(lid=LID, jid=OWNER)
    pack = make_pack(owner_jid=LID, name="Hidden")
    assert "Hidden" in author.get("/my/packs").content.decode()
    files = [upload("a.webp", webp_bytes("a"))]
    author.post(f"/my/packs/{pack.pack_key}", {"stickers": files})
    assert pack.items.count() == 1


def test_somebody_elses_pack_is_not_there(author: Client) -> None:
    pack = make_pack(owner_jid="5521912345678@s.whatsapp.net", name="Theirs")
    assert "Theirs" not in author.get("/my/packs").content.decode()
    assert author.get(f"/my/packs/{pack.pack_key}").status_code == 404


def test_a_list_takes_the_same_queries_for_one_pack_and_for_thirty(author: Client) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    counts = []
    for _round in range(2):
        with CaptureQueriesContext(connection) as queries:
            author.get("/my/packs")
        counts.append(len(queries))
        for _pack in range(30):
            make_pack(owner_jid=OWNER)
    assert counts[1] <= counts[0] + 1
