"""Each kind of broken file is refused, and the refusal names the rule that WhatsApp would apply."""

import io
import os
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from apps.stickers import errors, texts, webp
from apps.stickers.archives import read_packs
from apps.stickers.images import check_tray_icon, read_sticker
from tests.stickers.factories import png_bytes, webp_bytes
from tests.stickers.pictures import disc, encoded
from tests.stickers.test_archives import make_zip
from tests.stickers.test_images import _padded, bomb, noise


def riff(*parts: tuple[bytes, bytes], declared: int | None = None) -> bytes:
    """A WebP file of these chunks, whatever they hold."""
    body = b"WEBP" + b"".join(
        name + struct.pack("<I", len(content)) + content + bytes(len(content) % 2)
        for name, content in parts
    )
    return b"RIFF" + struct.pack("<I", len(body) if declared is None else declared) + body


def canvas(width: int, height: int, *, flags: int = 0) -> tuple[bytes, bytes]:
    sides = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return b"VP8X", bytes([flags, 0, 0, 0]) + sides


def swapped(data: bytes, old: bytes, new: bytes) -> bytes:
    assert old in data
    return data.replace(old, new, 1)


def damaged_pixels() -> bytes:
    data = bytearray(webp_bytes(seed="x", lossless=False))
    data[40:-4] = os.urandom(len(data) - 44)
    return bytes(data)


def one_frame_animation() -> bytes:
    parts = [(part.name, part.content) for part in webp.chunks(webp_bytes(frames=2))]
    return riff(*parts[:3])


FRAME = (b"ANMF", bytes(12) + (100).to_bytes(3, "little") + b"\0" + b"VP8L" + bytes(8))

STICKERS: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "format"),
    "plain text": (b"Not a picture at all.", "format"),
    "HTML": (b"<html></html>", "format"),
    "PNG named webp": (png_bytes(), "format"),
    "JPEG named webp": (encoded(disc(512, 512).convert("RGB"), "JPEG"), "format"),
    "GIF named webp": (encoded(disc(512, 512), "GIF"), "format"),
    "BMP": (encoded(disc(9, 9).convert("RGB"), "BMP"), "format"),
    "a sound in a RIFF file": (swapped(webp_bytes(), b"WEBP", b"WAVE"), "format"),
    "600 × 512": (webp_bytes(size=(600, 512)), "dimensions"),
    "512 × 511": (webp_bytes(size=(512, 511)), "dimensions"),
    "256 × 256": (webp_bytes(size=(256, 256)), "dimensions"),
    "1 × 1": (webp_bytes(size=(1, 1)), "dimensions"),
    "animated 500 × 500": (webp_bytes(size=(500, 500), frames=2), "dimensions"),
    "cut still": (webp_bytes()[:-9], "readable"),
    "cut animation": (webp_bytes(frames=3)[:-9], "readable"),
    "header alone": (webp_bytes()[:12], "readable"),
    "half a header": (riff(declared=4), "readable"),
    "no picture behind the canvas": (riff(canvas(512, 512)), "readable"),
    "a canvas header of four bytes": (riff((b"VP8X", bytes(4))), "dimensions"),
    "unknown first chunk": (riff((b"ABCD", bytes(10))), "readable"),
    "frames without content": (riff(canvas(512, 512, flags=2), FRAME, FRAME), "readable"),
    "rubbish behind the header": (noise(4000), "readable"),
    "damaged pixels": (damaged_pixels(), "readable"),
    "a length beyond the end": (riff((b"VP8L", bytes(9)), declared=9_999), "readable"),
    "3 MB": (noise(3_000_000), "file_size"),
    "still over 100,000 bytes": (_padded(webp_bytes(), 100_002), "file_size"),
    "animated over 500,000 bytes": (_padded(webp_bytes(frames=2), 500_002), "file_size"),
    "one frame with the animation bit, 300 KB": (
        _padded(one_frame_animation(), 300_000),
        "file_size",
    ),
    "bomb of 16,384 × 16,384": (bomb(), "decompression_bomb"),
    "bomb of 4,097 × 4,097": (riff(canvas(4_097, 4_097)), "decompression_bomb"),
    "frames of 7 ms": (webp_bytes(frames=2, duration_ms=7), "frame_duration"),
    "a frame of 0 ms": (webp_bytes(frames=2, duration_ms=[0, 100]), "frame_duration"),
    "12 seconds": (webp_bytes(frames=3, duration_ms=4_000), "animation_duration"),
    "10,001 ms": (webp_bytes(frames=2, duration_ms=[5_000, 5_001]), "animation_duration"),
}
TRAYS: dict[str, tuple[bytes, str]] = {
    "icon of 16 × 16": (encoded(disc(16, 16), "PNG"), "tray_dimensions"),
    "icon of 600 × 600": (encoded(disc(600, 600), "PNG"), "tray_dimensions"),
    "icon over 50,000 bytes": (png_bytes() + bytes(50_000), "file_size"),
    "icon that moves": (webp_bytes(frames=2), "tray_animated"),
    "cut icon": (png_bytes()[:60], "readable"),
}


@pytest.mark.parametrize(("data", "rule"), STICKERS.values(), ids=STICKERS.keys())
def test_a_broken_sticker_is_refused_by_rule(data: bytes, rule: str) -> None:
    assert refused_rule(lambda: read_sticker(data)) == rule


@pytest.mark.parametrize(("data", "rule"), TRAYS.values(), ids=TRAYS.keys())
def test_a_broken_icon_is_refused_by_rule(data: bytes, rule: str) -> None:
    assert refused_rule(lambda: check_tray_icon(data)) == rule


@pytest.mark.parametrize("emojis", [[], ["😀"] * 4, ["😀😀😀😀"], ["", " "]])
def test_wrong_emojis_are_refused_by_rule(emojis: list[str]) -> None:
    assert refused_rule(lambda: texts.check_emojis(emojis)) == "emoji_count"


def test_at_least_thirty_kinds_are_told_apart() -> None:
    assert len(STICKERS) + len(TRAYS) >= 30


def test_an_archive_of_rubbish_is_refused_whole(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "a.wastickers", {"title.txt": b"t"})
    with pytest.raises(errors.ArchiveRefused):
        read_packs(path)


def test_the_largest_and_longest_that_is_allowed_is_accepted() -> None:
    longest = webp_bytes(frames=2, duration_ms=[8, 9_992])
    assert read_sticker(_padded(longest, 500_000)).is_animated
    assert not read_sticker(_padded(webp_bytes(), 100_000)).is_animated
    assert Image.open(io.BytesIO(longest)).n_frames == 2


def refused_rule(check: Callable[[], object]) -> str:
    with pytest.raises(errors.StickerRefused) as refusal:
        check()
    return str(refusal.value.details["rule"])
