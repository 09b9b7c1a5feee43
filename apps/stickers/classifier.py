"""Saying what a sticker shows: a small interface, and the classifier that is built in. Pure.

The built-in one looks at colours, edges and motion, needs no model and gives the same answer for
the same bytes for ever. It tells drawings apart by style, not by subject.
"""

import io
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from PIL import Image

from apps.stickers.errors import StickerNotClassifiable
from apps.stickers.images import UNDECODABLE
from apps.stickers.scoring import clamp, n6

BUILT_IN = "builtin"
MODEL_NAME = "pixels"
VERSION = "v1"
SAMPLE_PIXELS = 64
SAMPLED_FRAMES = 4
# How sharply the strongest label stands out.
TEMPERATURE = 0.12


@dataclass(frozen=True, slots=True)
class Classification:
    """What a classifier says of one sticker; the fields of `sticker_asset_classification`.

    `all_scores` maps labels to probabilities; entropy is in nats, the margin lies between the two
    strongest labels. None stands for what the classifier does not tell.
    """

    provider: str
    model_name: str
    classification_version: str
    category: str
    confidence: float | None
    entropy: float | None
    confidence_margin: float | None
    all_scores: Mapping[str, float]
    top_labels: tuple[Mapping[str, Any], ...] = ()
    nsfw_score: float | None = 0.0
    is_nsfw: bool = False
    affinity_weight: float | None = 1.0
    ambiguous: bool = False
    subtags: tuple[str, ...] = field(default=())
    style_traits: tuple[str, ...] = ()
    emotions: tuple[str, ...] = ()
    pack_suggestions: tuple[str, ...] = ()
    semantic_cluster_id: int | None = None
    semantic_cluster_slug: str | None = None
    similar_images: tuple[Mapping[str, Any], ...] = ()
    image_hash: str | None = None


class Classifier(Protocol):
    """Turns the bytes of a sticker into a classification.

    `version` goes into every row, `concurrency` says how many stickers it takes at a time, and
    `tells_words` whether its answers hold tags, traits and suggestions.
    """

    version: str
    concurrency: int
    tells_words: bool

    def classify(self, data: bytes, *, asset_id: str = "", sha256: str = "") -> Classification:
        """What the sticker shows.

        Raises StickerNotClassifiable for what is no picture, ClassifierUnavailable when asking
        again later may help, ClassifierMisconfigured when only an operator can help.
        """


class PixelClassifier:
    """The built-in classifier."""

    version = VERSION
    concurrency = 1
    tells_words = False

    def classify(self, data: bytes, *, asset_id: str = "", sha256: str = "") -> Classification:
        """Measure the pixels and weigh the labels by what was measured."""
        try:
            frames = _frames(data)
        except (*UNDECODABLE, Image.DecompressionBombError) as error:
            raise StickerNotClassifiable("decoder-error", str(error)) from error
        scores = _softmax(_evidence(_features(frames)))
        ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        margin = n6(ranked[0][1] - ranked[1][1])
        return Classification(
            provider=BUILT_IN,
            model_name=MODEL_NAME,
            classification_version=VERSION,
            category=ranked[0][0],
            confidence=round(ranked[0][1], 5),
            entropy=n6(-sum(value * math.log(value) for value in scores.values() if value > 0)),
            confidence_margin=margin,
            all_scores=dict(ranked),
            top_labels=tuple({"label": label, "score": score} for label, score in ranked),
            ambiguous=margin < 0.1,  # noqa: PLR2004 (two labels nearly as strong)
            affinity_weight=ranked[0][1],
        )


@dataclass(frozen=True, slots=True)
class _Features:
    """What was measured, each from 0 to 1."""

    motion: float
    coverage: float
    saturation: float
    palette: float
    edges: float
    darkness: float


def _frames(data: bytes) -> list[np.ndarray]:
    """Up to four frames, evenly spread, small, as RGBA from 0 to 1."""
    image = Image.open(io.BytesIO(data))
    count = getattr(image, "n_frames", 1)
    frames = []
    for index in sorted({count * step // SAMPLED_FRAMES for step in range(SAMPLED_FRAMES)}):
        image.seek(index)
        small = image.convert("RGBA").resize((SAMPLE_PIXELS, SAMPLE_PIXELS), Image.Resampling.BOX)
        frames.append(np.asarray(small, dtype=np.float64) / 255)
    return frames


def _features(frames: list[np.ndarray]) -> _Features:
    first = frames[0]
    colour, alpha = first[..., :3], first[..., 3]
    inked = alpha > 0.5  # noqa: PLR2004 (half opaque)
    pixels = colour[inked] if inked.any() else np.ones((1, 3))
    grey = (first[..., :3] * alpha[..., None] + (1 - alpha[..., None])).mean(axis=2)
    moved = [np.abs(frame - first).mean() for frame in frames[1:]]
    return _Features(
        motion=clamp(20 * float(max(moved, default=0.0)), 0, 1),
        coverage=float(inked.mean()),
        saturation=float((pixels.max(axis=1) - pixels.min(axis=1)).mean()),
        palette=len(np.unique((pixels * 7).astype(int), axis=0)) / 512,
        edges=clamp(4 * float(np.abs(np.diff(grey, axis=1)).mean()), 0, 1),
        darkness=float((pixels.mean(axis=1) < 0.25).mean()),  # noqa: PLR2004 (nearly black)
    )


def _evidence(seen: _Features) -> dict[str, float]:
    return {
        "animation": 1.2 * seen.motion,
        "cartoon": 0.45 + 0.4 * seen.saturation - 0.4 * seen.palette,
        "line drawing": 0.3 + 0.5 * seen.edges - 0.6 * seen.saturation,
        "photo": 0.1 + 1.4 * seen.palette + 0.2 * seen.coverage,
        "emoji": 0.2 + 0.5 * seen.saturation + 0.2 * seen.coverage - 0.5 * seen.edges,
        "text": 0.1 + 0.6 * seen.darkness + 0.3 * seen.edges - 0.3 * seen.coverage,
    }


def _softmax(evidence: Mapping[str, float]) -> dict[str, float]:
    strongest = max(evidence.values())
    weights = {key: math.exp((value - strongest) / TEMPERATURE) for key, value in evidence.items()}
    total = sum(weights.values())
    return {label: n6(weight / total) for label, weight in weights.items()}
