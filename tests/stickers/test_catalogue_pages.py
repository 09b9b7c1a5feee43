"""The catalogue's pages without scripts: filters, opinions, downloads, sensitive packs."""

import io
import re
import zipfile
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.flags.testing import override_flag
from apps.stickers.models import (
    AssetClassification,
    PackEngagement,
    PackTag,
    StickerPack,
)
from apps.stickers.services.snapshots import refresh_snapshots
from tests.stickers.factories import make_pack

pytestmark = pytest.mark.django_db


def ranked(**values: Any) -> StickerPack:
    pack = make_pack(**{"stickers": 1} | values)
    refresh_snapshots([pack.pk], now=timezone.now())
    return pack


def shown(client: Client, address: str = "/") -> list[str]:
    page = client.get(address).content.decode()
    return re.findall(r'class="pack-name">([^<]*)<', page)


def test_pages_follow_each_other_and_keep_the_filters(client: Client) -> None:
    for number in range(26):
        PackTag.objects.create(pack=ranked(name=f"p{number}"), tag="anime")
    ranked(name="other")
    first = client.get("/?category=anime&sort=new").content.decode()
    link = re.search(r'rel="next"\s+href="([^"]*)"', first)
    assert link
    address = link[1].replace("&amp;", "&")
    assert "category=anime" in address
    met = shown(client, "/?category=anime&sort=new") + shown(client, f"/{address}")
    assert sorted(met) == sorted(f"p{number}" for number in range(26))


def test_sensitive_packs_are_shown_only_when_asked_for_and_never_at_once(client: Client) -> None:
    pack = make_pack(name="bold", stickers=1)
    AssetClassification.objects.create(asset=pack.cover_sticker, nsfw_score=0.9, is_nsfw=True)
    refresh_snapshots([pack.pk], now=timezone.now())
    assert shown(client) == []
    assert shown(client, "/?sensitive=1") == ["bold"]
    page = client.get(f"/packs/{pack.pack_key}").content.decode()
    assert '<details class="sensitive">' in page
    assert "pack-header-cover" not in page


def test_a_publisher_s_packs_have_an_address(client: Client) -> None:
    ranked(name="hers", publisher="Ana & Co")
    ranked(name="his", publisher="Bia")
    assert shown(client, "/?publisher=Ana+%26+Co") == ["hers"]


def test_the_age_of_the_ranking_is_shown(client: Client) -> None:
    pack = ranked()
    assert "Ranking as of" in client.get("/").content.decode()
    assert "Score" in client.get(f"/packs/{pack.pack_key}").content.decode()


def test_the_same_button_likes_and_takes_back(client: Client) -> None:
    pack = ranked()
    page = client.get(f"/packs/{pack.pack_key}").content.decode()
    assert 'aria-pressed="true"' not in page
    for expected in (1, 0):
        page = client.post(
            f"/packs/{pack.pack_key}/opinion", {"interaction": "like"}, follow=True
        ).content.decode()
        assert page.count('aria-pressed="true"') == expected
        assert PackEngagement.objects.get(pack=pack).like_count == expected


@pytest.mark.parametrize("interaction", ["open", "love", ""])
def test_other_opinions_do_not_exist(client: Client, interaction: str) -> None:
    pack = ranked()
    path = f"/packs/{pack.pack_key}/opinion"
    assert client.post(path, {"interaction": interaction}).status_code == 404


def test_a_pack_is_downloaded_with_all_its_stickers(client: Client) -> None:
    pack = ranked(stickers=3)
    answer = client.get(f"/packs/{pack.pack_key}/download")
    assert f'filename="{pack.pack_key}.wastickers"' in answer["Content-Disposition"]
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert sum(name.endswith(".webp") for name in archive.namelist()) == 3


def test_what_cannot_be_seen_cannot_be_downloaded(client: Client) -> None:
    hidden, empty = make_pack(visibility="private", stickers=1), make_pack()
    for pack in (hidden, empty):
        assert client.get(f"/packs/{pack.pack_key}/download").status_code == 404


@pytest.mark.parametrize("is_enabled", [True, False])
def test_the_page_takes_the_same_queries_for_one_pack_and_for_twenty(
    client: Client, django_assert_num_queries: Any, is_enabled: bool
) -> None:
    ranked()
    with override_flag("enable_ranking_snapshot_read", is_enabled=is_enabled):
        for _round in range(2):
            with django_assert_num_queries(3 if is_enabled else 7):  # the third are the tags
                client.get("/")
            refresh_snapshots(
                [make_pack(stickers=1).pk for _number in range(19)], now=timezone.now()
            )


def test_pages_hold_no_inline_script_or_style(client: Client) -> None:
    pack = ranked()
    for path in ("/", f"/packs/{pack.pack_key}"):
        page = client.get(path).content.decode()
        assert not re.search(r"<script(?![^>]*src=)|<style|\sstyle=|\son[a-z]+=", page)
