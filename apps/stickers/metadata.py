"""What a sticker file says about its pack: one clean EXIF block, and nothing else. Pure.

WhatsApp and its bots read a JSON text from the EXIF tag 0x5741 ("WA"). Everything else that editors
and cameras leave in a file (places, devices, thumbnails, unknown chunks) is taken out; the chunks
that hold the picture are never touched. Source: files saved by WhatsApp; the RIFF container
specification of WebP.
"""

import json
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from apps.stickers.webp import Chunk, chunks

PICTURE_CHUNKS = frozenset({b"VP8X", b"VP8 ", b"VP8L", b"ALPH", b"ANIM", b"ANMF"})
ALPHA_FLAG, EXIF_FLAG, XMP_FLAG, ICC_FLAG = 0x10, 0x08, 0x04, 0x20
WHATSAPP_TAG, UNDEFINED_TYPE = 0x5741, 7
# The text begins right behind the only entry, where WhatsApp's own files have it.
JSON_OFFSET = 22
_TIFF_HEADER = struct.pack("<2sHIH", b"II", 42, 8, 1)


@dataclass(frozen=True, slots=True)
class PackTag:
    """What a file tells of the pack that it is sent from."""

    pack_id: str
    name: str
    publisher: str
    emojis: Sequence[str] = ()
    label: str = ""


def stripped(data: bytes) -> bytes:
    """The file without metadata and unknown chunks; the same bytes when there is nothing to take.

    Raises BrokenContainer when the file is cut.
    """
    parts = list(chunks(data))
    kept = [_without_flags(part) for part in parts if part.name in PICTURE_CHUNKS]
    if kept == parts:
        return data
    # Without metadata a plain picture needs no extended header, so copies become equal again.
    is_plain = [part.name for part in kept] in ([b"VP8X", b"VP8L"], [b"VP8X", b"VP8 "])
    return _file(kept[1:] if is_plain else kept)


def tagged(data: bytes, tag: PackTag) -> bytes:
    """The file with the pack's block as its only metadata. Raises BrokenContainer."""
    kept = list(chunks(stripped(data)))
    if kept[0].name != b"VP8X":
        kept.insert(0, _extended_header(kept[0]))
    flags = kept[0].content[0] | EXIF_FLAG
    kept[0] = Chunk(b"VP8X", bytes([flags]) + kept[0].content[1:])
    return _file([*kept, Chunk(b"EXIF", exif_block(tag))])


def exif_block(tag: PackTag) -> bytes:
    """A TIFF structure with one entry: the JSON text that WhatsApp looks for."""
    values = {
        "sticker-pack-id": tag.pack_id,
        "sticker-pack-name": tag.name,
        "sticker-pack-publisher": tag.publisher,
        "emojis": list(tag.emojis),
    }
    if tag.label:
        values["accessibility-text"] = tag.label
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()
    entry = struct.pack("<HHII", WHATSAPP_TAG, UNDEFINED_TYPE, len(text), JSON_OFFSET)
    return _TIFF_HEADER + entry + text


def read_tag(data: bytes) -> dict[str, Any] | None:
    """The JSON that the file carries for WhatsApp; None where it has none that can be read."""
    for part in chunks(data):
        if part.name == b"EXIF":
            return _json_in(part.content.removeprefix(b"Exif\0\0"))
    return None


def _json_in(block: bytes) -> dict[str, Any] | None:
    try:
        tag, _kind, length, offset = struct.unpack_from("<HHII", block, len(_TIFF_HEADER))
        found = json.loads(block[offset : offset + length]) if tag == WHATSAPP_TAG else None
    except (struct.error, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _without_flags(part: Chunk) -> Chunk:
    if part.name != b"VP8X" or not part.content:
        return part
    flags = part.content[0] & ~(EXIF_FLAG | XMP_FLAG | ICC_FLAG)
    return Chunk(part.name, bytes([flags]) + part.content[1:])


def _extended_header(picture: Chunk) -> Chunk:
    """The header that a simple file needs before it can carry metadata."""
    if picture.name == b"VP8L":
        bits = struct.unpack_from("<I", picture.content, 1)[0]
        width, height = bits & 0x3FFF, bits >> 14 & 0x3FFF
        flags = ALPHA_FLAG if bits >> 28 & 1 else 0
    else:
        width, height = (side & 0x3FFF for side in struct.unpack_from("<HH", picture.content, 6))
        width, height, flags = width - 1, height - 1, 0
    sides = width.to_bytes(3, "little") + height.to_bytes(3, "little")
    return Chunk(b"VP8X", bytes([flags, 0, 0, 0]) + sides)


def _file(parts: Iterable[Chunk]) -> bytes:
    body = b"WEBP" + b"".join(
        struct.pack("<4sI", part.name, len(part.content))
        + part.content
        + bytes(len(part.content) % 2)
        for part in parts
    )
    return struct.pack("<4sI", b"RIFF", len(body)) + body
