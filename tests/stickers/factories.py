"""Small packs and images for tests, drawn here."""

import io
import itertools
import zlib
from typing import Any

from PIL import Image, ImageDraw

from apps.stickers.images import StickerImage, read_sticker
from apps.stickers.models import StickerPack
from apps.stickers.services.packs import add_sticker, create_pack

OWNER = "5511987654321@s.whatsapp.net"
_serial = itertools.count()


def webp_bytes(
    seed: Any = 0,
    *,
    size: tuple[int, int] = (512, 512),
    frames: int = 1,
    duration_ms: int = 100,
    **options: Any,
) -> bytes:
    """A WebP file that differs with its seed."""
    pictures = []
    for frame in range(frames):
        picture = Image.new("RGBA", size, (0, 0, 0, 0))
        number = zlib.crc32(str(seed).encode())
        colour = (number % 256, number // 256 % 256, number // 65_536 % 256, 255)
        corner = 20 + 30 * frame
        ImageDraw.Draw(picture).rectangle((corner, 20, corner + 200, 300), fill=colour)
        pictures.append(picture)
    file = io.BytesIO()
    pictures[0].save(
        file,
        "WEBP",
        save_all=frames > 1,
        append_images=pictures[1:],
        duration=duration_ms,
        **{"lossless": True, **options},
    )
    return file.getvalue()


def png_bytes() -> bytes:
    """A PNG file of a sticker's size."""
    file = io.BytesIO()
    Image.new("RGBA", (512, 512), "red").save(file, "PNG")
    return file.getvalue()


def sticker_image(seed: Any = None, **options: Any) -> StickerImage:
    """A valid sticker, a new one at each call unless a seed is given."""
    return read_sticker(webp_bytes(next(_serial) if seed is None else seed, **options))


def make_pack(*, stickers: int = 0, owner_jid: str = OWNER, **values: Any) -> StickerPack:
    """A published pack with so many stickers."""
    values = {"name": "Pack", "publisher": "Ana"} | values
    pack = create_pack(owner_jid=owner_jid, **values)
    for _number in range(stickers):
        add_sticker(pack.pack_key, sticker_image(), owner_jid=owner_jid)
    pack.refresh_from_db()
    return pack
