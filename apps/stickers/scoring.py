"""How good, how popular and how sensitive a pack is. Pure; `now` and all inputs are arguments.

Source: the marketplace, classification and drift services of OmniZap 2.2.5, formula by formula
(docs/ranking.md). Inputs are mappings as they come from JSON; what is not a number counts as 0.
"""

import functools
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np

from apps.common.parsing import js_number

Scores = Mapping[str, Any]

FULL_AREA = 512 * 512
FULL_SIZE_BYTES = 18_432
AGE_DECAY_DAYS = 45
TRENDING_FROM = 1.4
NSFW_EXPLICIT_FROM, NSFW_SUGGESTIVE_FROM = 0.78, 0.4
DUPLICATE_FROM = 0.985
PACK_TAG_FROM, STICKER_TAG_FROM, MAX_TAGS = 0.18, 0.2, 6
# Each weight: lowest, highest, default.
WEIGHT_BOUNDS = {
    "classification": (0.1, 0.7, 0.4),
    "engagement": (0.1, 0.7, 0.3),
    "quality": (0.05, 0.6, 0.2),
    "diversity": (0.05, 0.4, 0.1),
}
# How drift moves each weight: base, slope, lowest, highest.
DRIFT_RULES = {
    "classification": (0.4, -0.1, 0.25, 0.45),
    "engagement": (0.3, 0.08, 0.25, 0.42),
    "quality": (0.2, 0.01, 0.15, 0.3),
    "diversity": (0.1, 0.01, 0.08, 0.2),
}
TAG_OF_LABEL = {
    "anime illustration": "anime",
    "video game screenshot": "game",
    "real life photo": "foto-real",
    "nsfw content": "nsfw",
    "cartoon": "cartoon",
}
_SIX_PLACES = Decimal("0.000001")


def n6(value: float) -> float:
    """The value with six decimals, halves away from zero as JavaScript's `toFixed` rounds."""
    return float(Decimal(value).quantize(_SIX_PLACES, ROUND_HALF_UP))


def clamp(value: float, low: float, high: float) -> float:
    """The value, or the bound that it crosses."""
    return max(low, min(high, value))


def number(value: Any) -> float:
    """What the value counts as; whatever is no finite number counts as 0."""
    if isinstance(value, float | int) and not isinstance(value, bool):
        return float(value) if math.isfinite(value) else 0.0
    parsed = js_number(value)
    return parsed if math.isfinite(parsed) else 0.0


def pack_signals(
    *,
    pack: Mapping[str, Any],
    now: datetime,
    engagement: Mapping[str, Any] | None = None,
    pack_classification: Mapping[str, Any] | None = None,
    item_classifications: Sequence[Mapping[str, Any]] = (),
    interaction_stats: Mapping[str, Any] | None = None,
    scoring_weights: Mapping[str, Any] | None = None,
    duplicate_rate: float = 0.0,
) -> dict[str, Any]:
    """All scores of a pack, as stored in `scores_json`.

    `pack` holds `items` (each with its `asset`: width, height, size_bytes) and `updated_at` or
    `created_at`; the classifications are those of its classified items, in item order.
    """
    summary = pack_classification or {}
    weights = bounded_weights(scoring_weights or {})
    similarities = pair_similarities([_scores(item) for item in item_classifications])
    confidence = clamp(number(summary.get("confidence")), 0, 1)
    quality = quality_score(pack.get("items") or [], item_classifications)
    engaged = engagement_score(engagement or {})
    diversity = diversity_score(len(item_classifications), similarities, summary.get("tags") or [])
    penalty = duplicate_penalty(len(item_classifications), similarities, duplicate_rate)
    cohesion = cohesion_score(len(item_classifications), similarities)
    trend = trend_score(interaction_stats or {})
    decay = age_decay(pack, now)
    parts = (confidence, engaged, quality, diversity)
    weighted = sum(part * weight for part, weight in zip(parts, weights.values(), strict=True))
    pack_score = n6(clamp(weighted - 0.25 * penalty, 0, 1.5))
    level = nsfw_level(summary.get("nsfw") or {})
    return {
        "classification_confidence": confidence,
        "quality_score": quality,
        "engagement_score": engaged,
        "diversity_score": diversity,
        "cohesion_score": cohesion,
        "duplicate_penalty": penalty,
        "trend_score": trend,
        "pack_score": pack_score,
        "ranking_score": n6(pack_score * decay + 0.08 * trend + 0.05 * cohesion),
        "age_decay_factor": decay,
        "age_decay_days": AGE_DECAY_DAYS,
        "trending_now": trend >= TRENDING_FROM,
        "nsfw_level": level,
        "sensitive_content": level != "safe",
        "scoring_weights": weights,
    }


def quality_score(
    items: Sequence[Mapping[str, Any]], classifications: Sequence[Mapping[str, Any]]
) -> float:
    """Size and weight of the images, less what classifiers found blurry or badly compressed."""
    if not items:
        return 0.0
    mean = sum(_image_quality(item.get("asset") or {}) for item in items) / len(items)
    losses = [
        0.30 * number(scores.get("blurry image"))
        + 0.35 * number(scores.get("low quality compressed image"))
        for scores in map(_scores, classifications)
    ]
    return n6(clamp(mean - (sum(losses) / len(losses) if losses else 0.0), 0, 1))


def engagement_score(counters: Mapping[str, Any]) -> float:
    """Likes and opens less dislikes, on a scale where 50 likes make 1."""
    likes = number(counters.get("like_count"))
    opens = number(counters.get("open_count"))
    dislikes = number(counters.get("dislike_count"))
    return n6(clamp((2 * likes + 0.15 * opens - 1.25 * dislikes) / 100, 0, 1.2))


def pair_similarities(scores: Sequence[Scores]) -> np.ndarray:
    """The cosine of each pair of score maps, from 0 to 1; empty for fewer than two."""
    count = len(scores)
    if count < 2:  # noqa: PLR2004 (a pair)
        return np.zeros(0)
    labels = {label: column for column, label in enumerate({key for row in scores for key in row})}
    matrix = np.zeros((count, max(1, len(labels))))
    for row, values in enumerate(scores):
        for label, value in values.items():
            matrix[row, labels[label]] = number(value)
    norms = np.sqrt((matrix * matrix).sum(axis=1))
    matrix /= np.where(norms > 0, norms, 1.0)[:, None]
    products = matrix @ matrix.T
    cosines: np.ndarray = np.clip(products[np.triu_indices(count, 1)], 0, 1)
    return cosines


def diversity_score(count: int, similarities: np.ndarray, tags: Iterable[Any]) -> float:
    """How unlike each other the stickers are, and how many tags they span."""
    names = {str(tag).strip().lower() for tag in tags} - {""}
    if not count:
        return 0.45 if names else 0.25
    mean = float(similarities.mean()) if similarities.size else 0.5
    spread = clamp(len(names) / max(3, min(12, count)), 0, 1)
    return n6(0.7 * clamp(1 - mean, 0, 1) + 0.3 * spread)


def cohesion_score(count: int, similarities: np.ndarray) -> float:
    """How alike the stickers are; one alone is wholly cohesive."""
    if count <= 1:
        return 1.0
    return n6(clamp(float(similarities.mean()), 0, 1))


def duplicate_penalty(count: int, similarities: np.ndarray, duplicate_rate: float) -> float:
    """The share of pairs that look the same, from 0 to 1."""
    if not count:
        return 0.0
    share = float((similarities >= DUPLICATE_FROM).mean()) if similarities.size else 0.0
    return n6(clamp(0.7 * share + 0.3 * number(duplicate_rate), 0, 1))


def trend_score(stats: Mapping[str, Any]) -> float:
    """Opens of the last day over the daily mean of the last week (at least half an open)."""
    daily_mean = number(stats.get("open_baseline")) / 7
    return n6(clamp(number(stats.get("open_horizon")) / max(0.5, daily_mean), 0, 20))


def age_decay(pack: Mapping[str, Any], now: datetime) -> float:
    """A factor that falls to 1/e in 45 days since the pack changed; 1 for the future."""
    changed = _moment(pack.get("updated_at")) or _moment(pack.get("created_at"))
    days = max(0.0, (now - changed).total_seconds() / 86_400) if changed else 0.0
    return n6(math.exp(-days / AGE_DECAY_DAYS))


def nsfw_level(nsfw: Mapping[str, Any]) -> str:
    """`safe`, `suggestive` or `explicit`, by the highest of maximum and mean score."""
    risk = max(number(nsfw.get("max_score")), number(nsfw.get("avg_score")))
    if risk >= NSFW_EXPLICIT_FROM:
        return "explicit"
    if risk >= NSFW_SUGGESTIVE_FROM or number(nsfw.get("flagged_items")) > 0:
        return "suggestive"
    return "safe"


def pack_summary(
    classifications: Sequence[Mapping[str, Any]], asset_ids: Sequence[str]
) -> dict[str, Any]:
    """What a pack shows as a whole: category, mean scores, sensitivity, tags."""
    categories = Counter(str(c["category"]) for c in classifications if c.get("category"))
    ranked = sorted(categories.items(), key=lambda item: (-item[1], item[0]))
    count = len(classifications)
    means = _mean_scores(classifications)
    majority, majority_count = ranked[0] if ranked else (None, 0)
    ratio = n6(majority_count / count) if ranked else None
    top = max(means, key=lambda label: means[label]) if means else None
    summary: dict[str, Any] = {
        "total_items": len(set(asset_ids)),
        "classified_items": count,
        "category": top or majority,
        "confidence": means[top] if top else ratio,
        "majority_category": majority,
        "majority_ratio": ratio,
        "average_scores": means,
        "categories": [
            {"label": label, "count": held, "ratio": n6(held / count)} for label, held in ranked
        ],
        "nsfw": _nsfw_summary(classifications),
    }
    if asset_ids:
        is_flagged = summary["nsfw"]["flagged_items"] > 0
        summary["tags"] = pack_tags(majority, means, is_nsfw=is_flagged)
    return summary


def pack_tags(category: str | None, means: Mapping[str, float], *, is_nsfw: bool) -> list[str]:
    """The tags of a pack: its majority category, then its strongest labels."""
    return _tags(category, means, threshold=PACK_TAG_FROM, is_nsfw=is_nsfw)


def sticker_tags(classification: Mapping[str, Any] | None) -> list[str]:
    """The tags of one sticker: its category, then its strongest labels."""
    found = classification or {}
    scores = {label: number(value) for label, value in _scores(found).items()}
    is_nsfw = bool(found.get("is_nsfw"))
    return _tags(found.get("category"), scores, threshold=STICKER_TAG_FROM, is_nsfw=is_nsfw)


def drift_weights(
    last_week: Mapping[str, Any], last_month: Mapping[str, Any], *, sensitivity: float = 1.0
) -> dict[str, Any]:
    """The weights of the pack score, moved by how much the categories shifted within a month.

    The arguments count classifications by category; `sensitivity` lies between 0.5 and 2.5.
    """
    week, month = _shares(last_week), _shares(last_month)
    labels = sorted({*week, *month})
    distance = sum(abs(week.get(name, 0) - month.get(name, 0)) for name in labels)
    drift = n6(clamp(distance / 2, 0, 1)) if week and month else 0
    moved = clamp(drift * clamp(sensitivity, 0.5, 2.5), 0, 1)
    raw = {
        name: clamp(base + slope * moved, low, high)
        for name, (base, slope, low, high) in DRIFT_RULES.items()
    }
    total = sum(raw.values())
    return {
        "drift_score": drift,
        "weights": {name: n6(value / total) for name, value in raw.items()},
    }


def bounded_weights(given: Mapping[str, Any]) -> dict[str, float]:
    """The weights of the pack score: as given within their bounds, else their defaults."""
    weights = {}
    for name, (low, high, default) in WEIGHT_BOUNDS.items():
        value = js_number(given[name]) if name in given else math.nan
        weights[name] = clamp(value, low, high) if math.isfinite(value) else default
    return weights


@functools.lru_cache(maxsize=4096)
def label_slug(label: str, *, max_length: int = 40) -> str:
    """A label as a tag: without accents, words joined by hyphens."""
    plain = unicodedata.normalize("NFD", label.lower())
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:max_length]


def _image_quality(asset: Mapping[str, Any]) -> float:
    width, height = number(asset.get("width")), number(asset.get("height"))
    size = number(asset.get("size_bytes"))
    area_score = clamp(width * height / FULL_AREA, 0.2, 1) if width > 0 and height > 0 else 0.45
    size_score = clamp(size / FULL_SIZE_BYTES, 0.25, 1) if size > 0 else 0.5
    return 0.65 * area_score + 0.35 * size_score


def _mean_scores(classifications: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The mean of each label over all classified items, absent labels counting 0."""
    sums: dict[str, float] = {}
    for classification in classifications:
        for label, value in _scores(classification).items():
            sums[label] = sums.get(label, 0.0) + number(value)
    return {label: n6(total / len(classifications)) for label, total in sums.items()}


def _nsfw_summary(classifications: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    scores = [number(c["nsfw_score"]) for c in classifications if c.get("nsfw_score") is not None]
    return {
        "avg_score": n6(sum(scores) / len(scores)) if scores else None,
        "max_score": n6(max(scores)) if scores else None,
        "flagged_items": sum(1 for c in classifications if c.get("is_nsfw")),
    }


def _tags(
    category: str | None, scores: Mapping[str, float], *, threshold: float, is_nsfw: bool
) -> list[str]:
    strong = [label for label, value in scores.items() if value >= threshold]
    strong.sort(key=lambda label: -scores[label])
    labels = [*([category] if category else []), *strong]
    tags = [TAG_OF_LABEL.get(label.strip().lower()) or label_slug(label) for label in labels]
    unique = dict.fromkeys((["nsfw"] if is_nsfw else []) + [tag for tag in tags if tag])
    return list(unique)[:MAX_TAGS]


def _shares(counts: Mapping[str, Any]) -> dict[str, float]:
    total = sum(number(count) for count in counts.values())
    return {name: number(count) / total for name, count in counts.items()} if total else {}


def _scores(classification: Mapping[str, Any]) -> Scores:
    scores = classification.get("all_scores")
    return scores if isinstance(scores, Mapping) else {}


def _moment(value: Any) -> datetime | None:
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    return None
