"""Authors see and fill their own packs, and nobody else's."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from apps.stickers.models import StickerPack, UploadSource
from apps.whatsapp_auth.models import LidMapping
from tests.stickers.factories import make_pack, png_bytes, webp_bytes
from tests.whatsapp_auth.factories import LID, make_session

pytestmark = pytest.mark.django_db

OWNER = "5511987654321@s.whatsapp.net"


@pytest.fixture
def author(client: Client) -> Client:
    opened = make_session(now=timezone.now() - timedelta(minutes=1))
    client.cookies[django_settings.WEB_SESSION_COOKIE_NAME] = opened.token
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
    files = [upload("good.webp", webp_bytes("g")), upload("bad.webp", b"%PDF-1.7")]
    address = f"/my/packs/{pack.pack_key}"
    shown = author.post(address, {"stickers": files}, follow=True).content.decode()
    assert "bad.webp was not added: The file is no WebP, PNG, JPEG or GIF image." in shown
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


def test_pictures_of_other_formats_are_made_to_fit(author: Client) -> None:
    pack = make_pack(owner_jid=OWNER)
    author.post(f"/my/packs/{pack.pack_key}", {"stickers": [upload("a.png", png_bytes())]})
    assert pack.items.get().sticker.mimetype == "image/webp"


def test_a_new_pack_is_a_draft_until_it_is_published(author: Client, client: Client) -> None:
    author.post("/my/packs", {"name": "Cups", "publisher": "Ana", "visibility": "public"})
    pack = StickerPack.objects.get()
    address = f"/my/packs/{pack.pack_key}"
    refused = author.post(f"{address}/publish", follow=True).content.decode()
    assert "A pack needs at least three stickers." in refused
    files = [upload(f"{number}.webp", webp_bytes(number)) for number in range(3)]
    author.post(address, {"stickers": files})
    assert author.get(f"/packs/{pack.pack_key}").status_code == 404
    shown = author.post(f"{address}/publish", follow=True).content.decode()
    assert "The pack is published." in shown
    assert author.get(f"/packs/{pack.pack_key}").status_code == 200


def test_an_author_edits_covers_removes_copies_and_deletes(author: Client) -> None:
    pack = make_pack(owner_jid=OWNER, stickers=3)
    address = f"/my/packs/{pack.pack_key}"
    wish = {"name": "New", "publisher": "Ana", "visibility": "unlisted", "tags": "tea, cups"}
    author.post(f"{address}/edit", wish)
    first, second, _third = pack.items.order_by("position").values_list("sticker_id", flat=True)
    author.post(f"{address}/stickers/{second}", {"action": "cover"})
    author.post(f"{address}/stickers/{first}", {"action": "remove"})
    pack.refresh_from_db()
    assert (pack.name, pack.visibility, pack.manual_tags) == ("New", "unlisted", ["tea", "cups"])
    assert (pack.cover_sticker_id, pack.items.count()) == (second, 2)
    author.post(f"{address}/change", {"action": "clone"})
    assert StickerPack.objects.filter(name="New", deleted_at=None).count() == 2
    author.post(f"{address}/change", {"action": "delete"})
    assert author.get(address).status_code == 404


def test_an_edit_that_breaks_a_rule_is_told(author: Client) -> None:
    pack = make_pack(owner_jid=OWNER)
    wish = {"name": " ", "publisher": "Ana", "visibility": "public"}
    shown = author.post(f"/my/packs/{pack.pack_key}/edit", wish, follow=True).content.decode()
    assert "Name: This field is required." in shown


def test_a_failed_upload_is_shown_and_discarded(author: Client) -> None:
    pack = make_pack(owner_jid=OWNER)
    upload = pack.uploads.create(
        upload_id="h-1", sticker_hash="a" * 64, upload_status="failed", error_message="Too odd."
    )
    UploadSource.objects.create(upload=upload, size_bytes=1)
    address = f"/my/packs/{pack.pack_key}"
    assert "Too odd." in author.get(address).content.decode()
    author.post(f"{address}/uploads/h-1/discard")
    assert not pack.uploads.exists()


@pytest.mark.parametrize("way", ["publish", "edit", "change", "stickers/x", "uploads/x/discard"])
def test_somebody_elses_pack_is_not_changed(author: Client, way: str) -> None:
    pack = make_pack(owner_jid="5521912345678@s.whatsapp.net")
    answer = author.post(f"/my/packs/{pack.pack_key}/{way}", {"action": "delete"})
    assert answer.status_code == 404
    assert StickerPack.objects.get().deleted_at is None


def test_an_author_at_the_limit_is_told(author: Client, settings: Any) -> None:
    settings.STICKER_PACK_MAX_PACKS_PER_OWNER = 1
    make_pack(owner_jid=OWNER)
    wish = {"name": "Cups", "publisher": "Ana", "visibility": "public"}
    assert "at most 1 packs" in author.post("/my/packs", wish).content.decode()
