"""Whether WhatsApp accepts an image as a sticker, and if not, which of its rules is broken. Pure.

Source: WhatsApp's sticker app rules and its Android validator. Its limits of 100 KB and 500 KB are
read as 100,000 and 500,000 bytes, since files between that and 1,024-byte units are refused on some
phones.
"""

import hashlib
import io
import struct
import warnings
import zlib
from dataclasses import dataclass

from PIL import Image

from apps.stickers import errors, webp

STICKER_PIXELS = 512
MAX_STATIC_BYTES = 100_000
MAX_ANIMATED_BYTES = 500_000
MIN_FRAME_MS = 8
MAX_ANIMATION_MS = 10_000
TRAY_PIXELS = (24, 512)
MAX_TRAY_BYTES = 50_000
# Far beyond any sticker: such a canvas is an attack, and is never decoded.
BOMB_PIXELS = 4096 * 4096
WEBP_MIMETYPE = "image/webp"
# What Pillow's decoders raise at damaged files: some read beyond the end without looking.
UNDECODABLE = (
    OSError,
    ValueError,
    SyntaxError,
    EOFError,
    LookupError,
    OverflowError,
    TypeError,
    struct.error,
    zlib.error,
)


@dataclass(frozen=True, slots=True)
class StickerImage:
    """A valid sticker: its bytes as they came, and what was measured on the way."""

    data: bytes
    sha256: str
    width: int
    height: int
    is_animated: bool

    @property
    def size_bytes(self) -> int:
        """The size of the file."""
        return len(self.data)


def read_sticker(data: bytes) -> StickerImage:
    """Check everything that WhatsApp checks, from cheap to costly.

    Raises a subclass of StickerRefused that names the broken rule; nothing is decoded before size
    and canvas are known to be harmless.
    """
    if len(data) > MAX_ANIMATED_BYTES:
        raise errors.FileTooLarge(len(data), limit=MAX_ANIMATED_BYTES)
    container = _container(data)
    if container.width * container.height > BOMB_PIXELS:
        raise errors.ImageBomb(container.width, container.height)
    if (container.width, container.height) != (STICKER_PIXELS, STICKER_PIXELS):
        raise errors.WrongDimensions(container.width, container.height)
    if not container.is_animated and len(data) > MAX_STATIC_BYTES:
        raise errors.FileTooLarge(len(data), limit=MAX_STATIC_BYTES)
    _check_timing(container)
    _decode(data)
    return StickerImage(
        data=data,
        sha256=hashlib.sha256(data).hexdigest(),
        width=container.width,
        height=container.height,
        is_animated=container.is_animated,
    )


def check_tray_icon(data: bytes) -> None:
    """Check a pack's icon: still, 24 to 512 pixels a side, at most 50,000 bytes.

    Raises a subclass of StickerRefused.
    """
    if len(data) > MAX_TRAY_BYTES:
        raise errors.FileTooLarge(len(data), limit=MAX_TRAY_BYTES)
    image = _decode(data)
    if getattr(image, "n_frames", 1) > 1:
        raise errors.MovingTray
    low, high = TRAY_PIXELS
    if not (low <= image.width <= high and low <= image.height <= high):
        raise errors.WrongTrayDimensions(image.width, image.height)


def _container(data: bytes) -> webp.Container:
    if not webp.is_webp(data):
        raise errors.NotWebp
    try:
        return webp.read_container(data)
    except webp.BrokenContainer as error:
        raise errors.BrokenImage(str(error)) from error


def _check_timing(container: webp.Container) -> None:
    if not container.is_animated:
        return
    shortest, total = min(container.frame_durations_ms), sum(container.frame_durations_ms)
    if shortest < MIN_FRAME_MS:
        raise errors.FrameTooShort(shortest)
    if total > MAX_ANIMATION_MS:
        raise errors.AnimationTooLong(total)


def _decode(data: bytes) -> Image.Image:
    """Decode every frame, which finds what the headers do not tell."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(data), formats=["WEBP", "PNG"])
            for frame in range(getattr(image, "n_frames", 1)):
                image.seek(frame)
                image.load()
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise errors.ImageBomb from error
    except UNDECODABLE as error:
        raise errors.BrokenImage(str(error)) from error
    return image
