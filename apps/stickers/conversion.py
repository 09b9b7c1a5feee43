"""Turns pictures that people have into stickers that WhatsApp takes. Pure, and bounded in its work.

A WebP file that is valid already keeps its picture byte for byte. PNG, JPEG, GIF, APNG and other
WebP files are fitted into 512 × 512 without distortion, on a transparent ground, and encoded at the
best quality that stays within WhatsApp's limit: quality falls first, then frames.
"""

import io
import itertools
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from PIL import Image, ImageCms, ImageOps, UnidentifiedImageError

from apps.stickers import errors, metadata, webp
from apps.stickers.images import (
    BOMB_PIXELS,
    MAX_ANIMATED_BYTES,
    MAX_ANIMATION_MS,
    MAX_STATIC_BYTES,
    MIN_FRAME_MS,
    STICKER_PIXELS,
    UNDECODABLE,
    StickerImage,
    read_sticker,
)

MAX_SOURCE_BYTES = 20 * 1024 * 1024
# What one conversion may decode, all frames together: 400 frames of 800 × 800.
MAX_SOURCE_PIXELS = 256_000_000
MAX_FRAMES = 150
SOURCE_FORMATS = ("WEBP", "PNG", "JPEG", "GIF")
# Room for the pack's EXIF block, which is added when a sticker is sent.
EXIF_ROOM_BYTES = 1_000
# Browsers show GIF frames of 10 ms and less for 100 ms, and authors draw for browsers.
GIF_IGNORED_MS, GIF_DEFAULT_MS = 10, 100
STATIC_QUALITIES = (1, *range(10, 96, 5))
ANIMATED_QUALITIES = (15, 30, 45, 60, 75)
FRAME_STEPS = (1, 2, 3, 4, 6)
# Effort of the encoder: animations have many frames, so each gets less.
STATIC_METHOD, ANIMATED_METHOD = 4, 2

# Below this quality of colours, steps of transparency are made coarser as well.
EXACT_ALPHA_QUALITY = 50

Encode = Callable[[int], bytes]
TRANSPARENT = (0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture on a sticker's canvas and how long it is shown."""

    picture: Image.Image
    duration_ms: int


def to_sticker(data: bytes) -> StickerImage:
    """A valid sticker made of a file. Raises a StickerRefused that names the broken rule."""
    if len(data) > MAX_SOURCE_BYTES:
        raise errors.FileTooLarge(len(data), limit=MAX_SOURCE_BYTES)
    kept = _kept(data)
    if kept is not None:
        return kept
    frames = _frames(data)
    encoded = _still(frames[0].picture) if len(frames) == 1 else _animation(frames)
    return read_sticker(encoded)


def _kept(data: bytes) -> StickerImage | None:
    """The picture as it is, without foreign metadata, when WhatsApp takes it like that."""
    if not webp.is_webp(data):
        return None
    try:
        return read_sticker(metadata.stripped(data))
    except (errors.ImageBomb, errors.BrokenImage):
        raise
    except webp.BrokenContainer as error:
        raise errors.BrokenImage(str(error)) from error
    except errors.StickerRefused:
        return None


def _frames(data: bytes) -> Sequence[Frame]:
    """The frames of a source, fitted, within ten seconds; each decoded once."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=SOURCE_FORMATS) as source:
                _check_work(source)
                return _within_time(_fitted_frames(source))
    except UnidentifiedImageError as error:
        raise errors.UnknownFormat from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise errors.ImageBomb from error
    except UNDECODABLE as error:
        raise errors.BrokenImage(str(error)) from error


def _check_work(source: Image.Image) -> None:
    """Refuse what would take too much memory or time, before anything is decoded."""
    pixels = source.width * source.height
    if pixels > BOMB_PIXELS or pixels * getattr(source, "n_frames", 1) > MAX_SOURCE_PIXELS:
        raise errors.ImageBomb(source.width, source.height)


def _fitted_frames(source: Image.Image) -> Iterator[Frame]:
    """The source's frames, merged on the way where there are more than a sticker can use."""
    count = getattr(source, "n_frames", 1)
    step = -(-count // MAX_FRAMES)
    for start in range(0, count, step):
        duration_ms = _shown_ms(source, start)
        picture = _fitted(source)
        duration_ms += sum(_shown_ms(source, later) for later in range(start + 1, start + step))
        yield Frame(picture, duration_ms)


def _shown_ms(source: Image.Image, number: int) -> int:
    """Go to a frame and tell how long it is shown; nothing for one behind the last."""
    if number >= getattr(source, "n_frames", 1):
        return 0
    source.seek(number)
    source.load()
    duration_ms = round(source.info.get("duration") or 0)
    if source.format == "GIF" and duration_ms <= GIF_IGNORED_MS:
        duration_ms = GIF_DEFAULT_MS
    return max(MIN_FRAME_MS, duration_ms)


def _fitted(source: Image.Image) -> Image.Image:
    """The picture as large as fits, upright, in the middle of a transparent square."""
    upright = _in_srgb(ImageOps.exif_transpose(source)).convert("RGBA")
    if upright.size == (STICKER_PIXELS, STICKER_PIXELS):
        return upright
    scale = STICKER_PIXELS / max(upright.size)
    width, height = (max(1, round(side * scale)) for side in upright.size)
    small = upright.resize((width, height), Image.Resampling.LANCZOS)
    canvas = Image.new("RGBA", (STICKER_PIXELS, STICKER_PIXELS), TRANSPARENT)
    canvas.paste(small, ((STICKER_PIXELS - width) // 2, (STICKER_PIXELS - height) // 2))
    return canvas


def _in_srgb(picture: Image.Image) -> Image.Image:
    """The colours as its profile means them; the profile itself is not kept."""
    profile = picture.info.get("icc_profile")
    if not profile or picture.mode not in {"RGB", "RGBA", "CMYK", "L"}:
        return picture
    mode = "RGBA" if picture.mode == "RGBA" else "RGB"
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        shown = ImageCms.profileToProfile(
            picture, source, ImageCms.createProfile("sRGB"), outputMode=mode
        )
    except ImageCms.PyCMSError:
        return picture  # a damaged profile: browsers show such a picture without it as well
    return shown or picture


def _within_time(frames: Iterator[Frame]) -> Sequence[Frame]:
    """The frames of the first ten seconds; what follows is cut off."""
    taken: list[Frame] = []
    left_ms = MAX_ANIMATION_MS
    for frame in frames:
        taken.append(Frame(frame.picture, min(frame.duration_ms, left_ms)))
        left_ms -= frame.duration_ms
        if left_ms < MIN_FRAME_MS:
            break
    return taken


def _still(picture: Image.Image) -> bytes:
    """Without loss where that fits, else at the best quality that does."""
    limit = MAX_STATIC_BYTES - EXIF_ROOM_BYTES

    def encode(quality: int) -> bytes:
        return _saved(picture, **_lossy(quality), method=STATIC_METHOD)

    exact = _saved(picture, lossless=True, quality=60, method=STATIC_METHOD)
    found = exact if len(exact) <= limit else _best(encode, STATIC_QUALITIES, limit)
    if found is None:
        raise errors.CannotFit(limit)
    return found


def _animation(frames: Sequence[Frame]) -> bytes:
    """The most frames, then the best quality, that fit."""
    limit = MAX_ANIMATED_BYTES - EXIF_ROOM_BYTES
    for step in (step for step in FRAME_STEPS if step < len(frames)):
        thinned = _thinned(frames, step)

        def encode(quality: int, thinned: Sequence[Frame] = thinned) -> bytes:
            return _saved_animation(thinned, quality)

        found = _best(encode, ANIMATED_QUALITIES, limit)
        if found is not None:
            return found
    raise errors.CannotFit(limit)


def _best(encode: Encode, qualities: Sequence[int], limit: int) -> bytes | None:
    """The encoding at the highest quality within the limit, in few tries; None where none fits."""
    tries: dict[int, bytes] = {}

    def size(quality: int) -> int:
        tries[quality] = encode(quality)
        return len(tries[quality])

    if size(qualities[-1]) <= limit:
        return tries[qualities[-1]]
    if size(qualities[0]) > limit:
        return None
    between = qualities[1:-1]
    found = bisect_right(between, limit, key=size)
    return tries[between[found - 1] if found else qualities[0]]


def _thinned(frames: Sequence[Frame], step: int) -> Sequence[Frame]:
    """Each first of so many frames, shown for as long as those that it stands for."""
    groups = (frames[start : start + step] for start in range(0, len(frames), step))
    return [Frame(group[0].picture, sum(frame.duration_ms for frame in group)) for group in groups]


def _saved_animation(frames: Sequence[Frame], quality: int) -> bytes:
    return _saved(
        frames[0].picture,
        save_all=True,
        append_images=[frame.picture for frame in itertools.islice(frames, 1, None)],
        duration=[frame.duration_ms for frame in frames],
        loop=0,
        **_lossy(quality),
        method=ANIMATED_METHOD,
    )


def _lossy(quality: int) -> dict[str, object]:
    alpha_quality = 100 if quality >= EXACT_ALPHA_QUALITY else quality
    return {"quality": quality, "alpha_quality": alpha_quality}


def _saved(picture: Image.Image, **options: object) -> bytes:
    # Pillow copies profile and EXIF of the source unless it is told not to.
    file = io.BytesIO()
    picture.save(file, "WEBP", exif=b"", xmp=b"", icc_profile=None, **options)
    return file.getvalue()
