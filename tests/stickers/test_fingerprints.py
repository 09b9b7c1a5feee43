"""Near copies are found, other drawings are not."""

import io
import zlib

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from PIL import Image

from apps.stickers.fingerprints import MAX_DISTANCE, fingerprint, near_pairs, nearby_bands
from apps.stickers.models import AssetFingerprint, StickerAsset
from apps.stickers.services.fingerprinting import near_copies, remember
from tests.stickers.factories import OWNER, webp_bytes


def copy_of(data: bytes, *, quality: int = 30) -> bytes:
    """The same picture, made smaller and larger again and compressed hard."""
    file = io.BytesIO()
    small = Image.open(io.BytesIO(data)).convert("RGBA").resize((300, 300))
    small.resize((512, 512)).save(file, "WEBP", quality=quality)
    return file.getvalue()


def is_near(one: bytes, other: bytes) -> bool:
    prints = [fingerprint(one), fingerprint(other)]
    matrix = near_pairs([p.shape for p in prints], [p.colour for p in prints])
    return bool(matrix[0, 1])


def make_asset(data: bytes) -> StickerAsset:
    asset = StickerAsset.objects.create(
        owner_jid=OWNER,
        sha256=f"{zlib.crc32(data):064x}",
        mimetype="image/webp",
        size_bytes=len(data),
        storage_path="-",
    )
    remember(asset, data)
    return asset


def test_a_compressed_copy_is_near() -> None:
    assert is_near(webp_bytes("a"), copy_of(webp_bytes("a")))


def test_another_colour_or_shape_is_not_near() -> None:
    assert not is_near(webp_bytes("a"), webp_bytes("b"))
    assert not is_near(webp_bytes("a"), webp_bytes("a", size=(300, 512)))


def test_a_fingerprint_is_the_same_for_ever() -> None:
    found = fingerprint(webp_bytes("a"))
    assert (f"{found.shape:016x}", found.colour) == (
        f"{fingerprint(webp_bytes('a')).shape:016x}",
        fingerprint(webp_bytes("a")).colour,
    )


def test_bands_lose_no_near_copy() -> None:
    """However six bits are spread, one band of both hashes differs by at most one bit."""
    shape = fingerprint(webp_bytes("a")).shape
    for places in ((0, 1, 16, 17, 32, 48), (5, 21, 37, 53, 0, 16), (0, 1, 2, 3, 4, 5)):
        other = shape
        for place in places:
            other ^= 1 << place
        assert len(places) == MAX_DISTANCE
        assert any(
            (other >> 16 * band & 0xFFFF) in nearby_bands(shape >> 16 * band & 0xFFFF)
            for band in range(4)
        )


@pytest.mark.django_db
def test_near_copies_are_found_as_a_set_in_two_queries() -> None:
    pictures = [webp_bytes(seed) for seed in "abc"]
    assets = [make_asset(data) for data in pictures]
    copies = [make_asset(copy_of(data)) for data in pictures[:2]]
    with CaptureQueriesContext(connection) as queries:
        found = near_copies([asset.pk for asset in assets])
    assert found == {assets[n].pk: [copies[n].pk] for n in range(2)}
    assert len(queries) == 2


@pytest.mark.django_db
def test_a_deleted_sticker_takes_its_fingerprint_along() -> None:
    asset = make_asset(webp_bytes("a"))
    asset.delete()
    assert not AssetFingerprint.objects.exists()
    remember_nothing = near_copies(["unknown"])
    assert remember_nothing == {}
