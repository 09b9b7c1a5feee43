"""Pages and images as browsers get them."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.stickers.byte_ranges import parse_range
from apps.stickers.models import AssetClassification, StickerAsset
from apps.stickers.services.snapshots import refresh_snapshots
from apps.stickers.storage import local_file
from tests.stickers.factories import make_pack

pytestmark = pytest.mark.django_db


@pytest.fixture
def asset() -> StickerAsset:
    make_pack(stickers=1)
    return StickerAsset.objects.get()


def test_the_catalogue_shows_pictures_and_loads_nothing_from_outside(client: Client) -> None:
    pack = make_pack(name="Cups", stickers=1)
    refresh_snapshots([pack.pk], now=timezone.now())
    answer = client.get("/")
    page = answer.content.decode()
    assert "Cups" in page
    assert "/stickers/assets/" in page
    assert "https://" not in page
    assert "default-src 'self';" in answer["Content-Security-Policy"] + ";"


def test_a_pack_page_shows_every_sticker(client: Client) -> None:
    pack = make_pack(stickers=3)
    assert client.get(f"/packs/{pack.pack_key}").content.count(b'loading="lazy"') == 3


@pytest.mark.parametrize("path", ["/?sort=worst", "/?cursor=rubbish", "/packs/none-abcde"])
def test_what_is_not_there_answers_404(client: Client, path: str) -> None:
    assert client.get(path).status_code == 404


def test_an_image_may_be_kept_for_good(client: Client, asset: StickerAsset) -> None:
    answer = client.get(f"/stickers/assets/{asset.sha256}.webp")
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/webp")
    assert answer.content == local_file(asset).read_bytes()
    assert "immutable" in answer["Cache-Control"]
    assert "public" in answer["Cache-Control"]
    again = client.get(
        f"/stickers/assets/{asset.sha256}.webp", headers={"If-None-Match": answer["ETag"]}
    )
    assert (again.status_code, again.content) == (304, b"")


def test_sensitive_images_are_kept_by_the_browser_alone(
    client: Client, asset: StickerAsset
) -> None:
    AssetClassification.objects.create(asset=asset, is_nsfw=True)
    answer = client.get(f"/stickers/assets/{asset.sha256}.webp")
    assert "private" in answer["Cache-Control"]


def test_a_part_of_an_image_can_be_asked_for(client: Client, asset: StickerAsset) -> None:
    answer = client.get(f"/stickers/assets/{asset.sha256}.webp", headers={"Range": "bytes=0-3"})
    assert (answer.status_code, answer.content) == (206, b"RIFF")
    assert answer["Content-Range"] == f"bytes 0-3/{asset.size_bytes}"


def test_a_missing_file_answers_404(client: Client, asset: StickerAsset) -> None:
    local_file(asset).unlink()
    assert client.get(f"/stickers/assets/{asset.sha256}.webp").status_code == 404


def test_a_path_outside_the_folder_is_never_read(client: Client, asset: StickerAsset) -> None:
    StickerAsset.objects.update(storage_path="../../etc/passwd")
    assert client.get(f"/stickers/assets/{asset.sha256}.webp").status_code == 404


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("bytes=0-9", slice(0, 10)),
        ("bytes=90-", slice(90, 100)),
        ("bytes=-10", slice(90, 100)),
        ("bytes=0-999", slice(0, 100)),
        ("bytes=100-", None),
        ("bytes=-", None),
        ("bytes=0-1,4-5", None),
        ("pages=1-2", None),
        ("", None),
    ],
)
def test_ranges_follow_the_rfc(header: str, expected: Any) -> None:
    assert parse_range(header, 100) == expected
