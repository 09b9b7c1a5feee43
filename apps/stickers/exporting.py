"""Writing a pack as an archive that WhatsApp's tools and Pombo itself read. Pure.

Images go out byte for byte as they came in, so that a round trip changes nothing.
"""

import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PIL import Image

from apps.stickers.archives import CONTENTS_NAME, StickerSource

TRAY_PIXELS = 96
TRAY_NAME = "tray.png"
# A fixed time keeps archives of equal packs equal.
ARCHIVE_TIME = (2020, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class ExportedPack:
    """A pack with the bytes of its stickers."""

    identifier: str
    name: str
    publisher: str
    version: int
    stickers: Sequence[StickerSource]


def as_wastickers(pack: ExportedPack) -> bytes:
    """A `.wastickers` file: texts, an icon and the stickers in order."""
    files = {
        "title.txt": pack.name.encode(),
        "author.txt": pack.publisher.encode(),
        TRAY_NAME: tray_icon(pack.stickers[0].data),
    }
    return _zip(files | {sticker.file_name: sticker.data for sticker in pack.stickers})


def as_contents(pack: ExportedPack) -> bytes:
    """A ZIP file in the form of WhatsApp's sample app: `contents.json` and a folder."""
    folder = pack.identifier
    files = {
        CONTENTS_NAME: json.dumps(contents_of(pack), ensure_ascii=False, indent=2).encode(),
        f"{folder}/{TRAY_NAME}": tray_icon(pack.stickers[0].data),
    }
    named = {f"{folder}/{sticker.file_name}": sticker.data for sticker in pack.stickers}
    return _zip(files | named)


def contents_of(pack: ExportedPack) -> dict[str, Any]:
    """What `contents.json` says of the pack."""
    entry = {
        "identifier": pack.identifier,
        "name": pack.name,
        "publisher": pack.publisher,
        "tray_image_file": TRAY_NAME,
        "image_data_version": str(pack.version),
        "stickers": [
            {
                "image_file": sticker.file_name,
                "emojis": list(sticker.emojis),
                "accessibility_text": sticker.label,
            }
            for sticker in pack.stickers
        ],
    }
    return {"sticker_packs": [entry]}


def tray_icon(sticker: bytes) -> bytes:
    """A small still PNG of a sticker's first frame."""
    image = Image.open(io.BytesIO(sticker)).convert("RGBA")
    image.thumbnail((TRAY_PIXELS, TRAY_PIXELS))
    canvas = Image.new("RGBA", (TRAY_PIXELS, TRAY_PIXELS), (0, 0, 0, 0))
    canvas.paste(image, ((TRAY_PIXELS - image.width) // 2, (TRAY_PIXELS - image.height) // 2))
    file = io.BytesIO()
    canvas.save(file, "PNG")
    return file.getvalue()


def _zip(files: dict[str, bytes]) -> bytes:
    """Stored, not deflated: WebP and PNG are compressed already."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, ARCHIVE_TIME), data)
    return target.getvalue()
