"""Pictures as people send them, drawn here: photos, drawings and animations of several formats."""

import io
from typing import Any

import numpy as np
from PIL import Image, ImageDraw


def encoded(picture: Image.Image, form: str, **options: Any) -> bytes:
    """The picture as a file."""
    file = io.BytesIO()
    picture.save(file, form, **options)
    return file.getvalue()


def photo(width: int, height: int, *, seed: int = 1, noise: int = 12) -> Image.Image:
    """Soft colours with the grain of a camera."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    waves = (np.sin(x / 37 + y / 91), np.cos(x / 53 - y / 29), np.sin((x + y) / 71))
    colours = 128 + 100 * np.stack(waves, -1) + rng.normal(0, noise, (height, width, 3))
    return Image.fromarray(np.clip(colours, 0, 255).astype("uint8"))


def disc(width: int, height: int, colour: Any = "red", *, left: int = 0) -> Image.Image:
    """A disc on a transparent ground."""
    picture = Image.new("RGBA", (width, height), (0, 0, 0, 0))
    ImageDraw.Draw(picture).ellipse((left, 0, left + height - 1, height - 1), fill=colour)
    return picture


def animation(
    form: str, *, frames: int = 5, duration_ms: int = 100, size: tuple[int, int] = (200, 100)
) -> bytes:
    """A disc that moves."""
    width, height = size
    pictures = [disc(width, height, left=3 * number) for number in range(frames)]
    return encoded(
        pictures[0],
        form,
        save_all=True,
        append_images=pictures[1:],
        duration=duration_ms,
        loop=0,
        disposal=2 if form == "GIF" else 1,
    )
