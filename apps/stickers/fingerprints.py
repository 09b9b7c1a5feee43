"""A sticker's perceptual fingerprint: near copies have nearly the same one. Pure.

The hash holds the signs of the 63 lowest frequencies of the picture in grey (pHash), which survive
scaling and compression; the mean colour tells drawings apart that differ in nothing else.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

SIDE, LOW = 32, 8
MAX_DISTANCE = 6
MAX_COLOUR_DISTANCE = 12
BANDS, BAND_BITS = 4, 16
# Differences of rounding in the transform must not become bits.
FLAT = 1e-6


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """64 bits of shape and four bytes of mean colour: red, green, blue, opacity."""

    shape: int
    colour: tuple[int, int, int, int]

    @property
    def bands(self) -> tuple[int, ...]:
        """The hash in four parts."""
        mask = (1 << BAND_BITS) - 1
        return tuple(self.shape >> (BAND_BITS * band) & mask for band in range(BANDS))


def fingerprint(data: bytes) -> Fingerprint:
    """The fingerprint of the first frame. Raises OSError or ValueError for what is no picture."""
    image = Image.open(io.BytesIO(data)).convert("RGBA")
    white = Image.new("RGBA", image.size, "white")
    grey = Image.alpha_composite(white, image).convert("L")
    small = grey.resize((SIDE, SIDE), Image.Resampling.BOX)
    pixels = np.asarray(small, dtype=np.float64)
    low = (_COSINES @ pixels @ _COSINES.T)[:LOW, :LOW].ravel()
    signs = low[1:] > np.median(low[1:]) + FLAT
    shape = int(sum(1 << place for place, sign in enumerate(signs) if sign))
    return Fingerprint(shape, _mean_colour(image))


def nearby_bands(value: int) -> list[int]:
    """All values of a band within one bit.

    Among the four bands of two hashes at most seven bits apart, one pair is within one bit, so
    looking these values up finds every near copy.
    """
    return [value, *(value ^ 1 << bit for bit in range(BAND_BITS))]


def near_pairs(
    shapes: Sequence[int], colours: Sequence[Sequence[int]], others: Sequence[int] | None = None
) -> np.ndarray:
    """A matrix that tells which pictures are near copies: of all, or of all to those chosen."""
    hashes = np.array(shapes, dtype=np.uint64)
    hues = np.array(colours, dtype=np.int16).reshape(-1, 4)
    rows = slice(None) if others is None else list(others)
    distance = np.bitwise_count(hashes[rows, None] ^ hashes[None, :])
    hue_distance = np.abs(hues[rows, None] - hues[None, :]).max(axis=2)
    near: np.ndarray = (distance <= MAX_DISTANCE) & (hue_distance <= MAX_COLOUR_DISTANCE)
    return near


def _mean_colour(image: Image.Image) -> tuple[int, int, int, int]:
    pixels = np.asarray(image.resize((SIDE, SIDE), Image.Resampling.BOX), dtype=np.float64)
    weights = pixels[..., 3]
    total = weights.sum()
    mean = (pixels[..., :3] * weights[..., None]).sum(axis=(0, 1)) / total if total else [0, 0, 0]
    red, green, blue = (round(float(value)) for value in mean)
    return red, green, blue, round(float(weights.mean()))


def _cosine_matrix() -> np.ndarray:
    """The discrete cosine transform of type two, as a matrix."""
    places = np.arange(SIDE)
    matrix: np.ndarray = np.cos(np.pi * np.outer(places, 2 * places + 1) / (2 * SIDE))
    return matrix


_COSINES = _cosine_matrix()
