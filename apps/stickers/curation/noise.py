"""Noise that is the same for ever: FNV-1a of a text, for many texts at once. Pure."""

from collections.abc import Sequence

import numpy as np

OFFSET, PRIME = 0x811C9DC5, 0x01000193


def fnv1a(texts: Sequence[str], suffix: str = "") -> np.ndarray:
    """The 32-bit FNV-1a hash of each text with the suffix appended."""
    if not texts:
        return np.zeros(0, dtype=np.uint32)
    raw = [text.encode() for text in texts]
    width = max(1, *(len(text) for text in raw))
    letters = np.array(raw, dtype=f"S{width}").view(np.uint8).reshape(len(raw), width)
    lengths = np.array([len(text) for text in raw])
    hashes: np.ndarray = np.full(len(raw), OFFSET, dtype=np.uint64)
    for place in range(width):
        mixed = (hashes ^ letters[:, place]) * PRIME & 0xFFFFFFFF
        hashes = np.where(place < lengths, mixed, hashes)
    for letter in suffix.encode():
        hashes = (hashes ^ letter) * PRIME & 0xFFFFFFFF
    return hashes.astype(np.uint32)


def noise(texts: Sequence[str], suffix: str) -> np.ndarray:
    """A number from -1 to 1 for each text."""
    spread: np.ndarray = fnv1a(texts, suffix) / np.float64(0xFFFFFFFF) * 2 - 1
    return spread
