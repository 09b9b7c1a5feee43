"""Images are accepted and refused as WhatsApp does it, and the broken rule is named."""

import os
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.stickers import errors
from apps.stickers.images import check_tray_icon, read_sticker
from tests.stickers.factories import png_bytes, webp_bytes


def noise(size_bytes: int) -> bytes:
    """A WebP header and then rubbish."""
    return b"RIFF" + struct.pack("<I", size_bytes - 8) + b"WEBP" + os.urandom(size_bytes - 12)


def bomb() -> bytes:
    """A few bytes that claim 16,384 × 16,384 pixels."""
    canvas = b"\x10\0\0\0" + (16_383).to_bytes(3, "little") * 2
    body = b"WEBP" + b"VP8X" + struct.pack("<I", 10) + canvas
    return b"RIFF" + struct.pack("<I", len(body)) + body


def test_a_still_sticker_is_accepted_as_it_is() -> None:
    data = webp_bytes()
    image = read_sticker(data)
    assert (image.width, image.height, image.is_animated) == (512, 512, False)
    assert image.data == data


def test_an_animated_sticker_is_told_by_its_frames() -> None:
    assert read_sticker(webp_bytes(frames=3)).is_animated


def test_a_still_image_of_100_kb_is_too_large_and_an_animated_one_is_not() -> None:
    still = _padded(webp_bytes(), 100_002)
    with pytest.raises(errors.FileTooLarge):
        read_sticker(still)
    assert read_sticker(_padded(webp_bytes(frames=2), 300_000)).is_animated


def test_damaged_pixels_are_found_although_the_headers_are_right() -> None:
    data = bytearray(webp_bytes(seed="x", lossless=False))
    data[40:-4] = os.urandom(len(data) - 44)
    with pytest.raises(errors.BrokenImage):
        read_sticker(bytes(data))


@given(st.binary(max_size=300))
def test_no_bytes_make_it_fail_otherwise(data: bytes) -> None:
    with pytest.raises(errors.StickerRefused):
        read_sticker(b"RIFF" + data)


def test_a_tray_icon_may_be_a_small_png() -> None:
    check_tray_icon(png_bytes())
    with pytest.raises(errors.WrongTrayDimensions):
        check_tray_icon(webp_bytes(size=(16, 16)))


def _padded(data: bytes, size_bytes: int) -> bytes:
    """The file with an unknown chunk at its end that brings it to a size."""
    filler = size_bytes - len(data) - 8
    chunk = b"JUNK" + struct.pack("<I", filler) + bytes(filler + filler % 2)
    body = data[8:] + chunk
    return b"RIFF" + struct.pack("<I", len(body)) + body
