"""The container of a WebP file: its chunks, canvas and frames. Pure; nothing is decoded here.

Source: the WebP container specification (RIFF, VP8X, ANIM, ANMF).
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

RIFF_HEADER_BYTES = 12
CHUNK_HEADER_BYTES = 8
ANMF_DURATION = slice(12, 15)
METADATA_CHUNKS = frozenset({b"EXIF", b"XMP ", b"ICCP"})


class BrokenContainer(ValueError):
    """The bytes are no WebP file, or end too early."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of the file: its four-letter name and its content."""

    name: bytes
    content: bytes


@dataclass(frozen=True, slots=True)
class Container:
    """What the headers say: the canvas in pixels, and the duration of each frame in milliseconds.

    A still image has one frame of no duration, whatever its animation bit says.
    """

    width: int
    height: int
    frame_durations_ms: tuple[int, ...]

    @property
    def is_animated(self) -> bool:
        """More than one frame; neither file size nor the animation bit tell."""
        return len(self.frame_durations_ms) > 1


def is_webp(data: bytes) -> bool:
    """Whether the file begins like a WebP file."""
    return data[:4] == b"RIFF" and data[8:RIFF_HEADER_BYTES] == b"WEBP"


def read_container(data: bytes) -> Container:
    """Read the headers. Raises BrokenContainer when the file is cut or inconsistent."""
    if not is_webp(data):
        raise BrokenContainer("no RIFF WEBP header")
    parts = list(chunks(data))
    durations = tuple(
        int.from_bytes(part.content[ANMF_DURATION], "little")
        for part in parts
        if part.name == b"ANMF"
    )
    width, height = _canvas(parts)
    return Container(width, height, durations or (0,))


def chunks(data: bytes) -> Iterator[Chunk]:
    """The chunks of the file in order. Raises BrokenContainer where one is cut."""
    end = CHUNK_HEADER_BYTES + struct.unpack_from("<I", data, 4)[0]
    if end > len(data):
        raise BrokenContainer("the file ends before its declared length")
    position = RIFF_HEADER_BYTES
    while position + CHUNK_HEADER_BYTES <= end:
        name, size = struct.unpack_from("<4sI", data, position)
        start = position + CHUNK_HEADER_BYTES
        if start + size > end:
            raise BrokenContainer(f"the chunk {name!r} is cut")
        yield Chunk(name, data[start : start + size])
        position = start + size + size % 2


def _canvas(parts: list[Chunk]) -> tuple[int, int]:
    if not parts:
        raise BrokenContainer("no image in the file")
    name, content = parts[0].name, parts[0].content
    try:
        if name == b"VP8X":
            width = int.from_bytes(content[4:7], "little") + 1
            return width, int.from_bytes(content[7:10], "little") + 1
        if name == b"VP8 ":
            width, height = struct.unpack_from("<HH", content, 6)
            return width & 0x3FFF, height & 0x3FFF
        if name == b"VP8L":
            bits = struct.unpack_from("<I", content, 1)[0]
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    except struct.error as error:
        raise BrokenContainer("the image header is cut") from error
    raise BrokenContainer(f"unknown first chunk {name!r}")
