"""Theme texts as vectors, so that equal themes in other words come together. Pure.

A text becomes the counts of its letter triples, hashed into a few places and brought to length 1:
no model, the same for ever, and near for texts that share most of their letters.
"""

import hashlib
import re
import unicodedata
import zlib

import numpy as np

DIMENSIONS = 192
SAME_THEME_FROM = 0.72
MAX_TEXT_LENGTH = 512


def normalized_text(text: str) -> str:
    """Lower case, no accents, single blanks."""
    plain = unicodedata.normalize("NFD", text.lower())
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    return " ".join(re.findall(r"[a-z0-9]+", plain))[:MAX_TEXT_LENGTH].strip()


def text_hash(normalized: str) -> str:
    """The key of a text in the cache."""
    return hashlib.sha256(normalized.encode()).hexdigest()


def embed(normalized: str) -> np.ndarray:
    """The vector of a normalized text, of length 1."""
    vector = np.zeros(DIMENSIONS, dtype="<f4")
    for word in normalized.split():
        padded = f" {word} "
        for start in range(len(padded) - 2):
            vector[zlib.crc32(padded[start : start + 3].encode()) % DIMENSIONS] += 1
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector


def to_bytes(vector: np.ndarray) -> bytes:
    """The vector as the table stores it: float32, little end first."""
    return vector.astype("<f4").tobytes()


def from_bytes(data: bytes | memoryview) -> np.ndarray:
    """The vector in a row."""
    return np.frombuffer(bytes(data), dtype="<f4")
