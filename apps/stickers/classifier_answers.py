"""What a classifier service may answer: every field is checked before it reaches the table. Pure.

The fields are those of `sticker_asset_classification`. A field that is missing is filled in where
the others tell it; one that is there but wrong has the whole answer refused, by its name.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from apps.stickers.classifier import Classification
from apps.stickers.errors import BadClassifierAnswer
from apps.stickers.scoring import NSFW_EXPLICIT_FROM, n6

PROVIDER = "clip"
MAX_LABELS, MAX_LABEL_LENGTH, MAX_TOP_LABELS = 1000, 120, 10
MAX_SIMILAR = 40
MAX_ENTROPY = 99.0
# How many words each list keeps.
WORD_LISTS = {
    "llm_subtags": 40,
    "llm_style_traits": 20,
    "llm_emotions": 20,
    "llm_pack_suggestions": 30,
}
_HASH = re.compile(r"[0-9a-f]{64}")
_SIMILAR_FIELDS = ("asset_id", "image_hash", "similarity", "score")


def read_answer(answer: Any, *, version: str, sha256: str = "") -> Classification:
    """The classification in an answer that was JSON. Raises BadClassifierAnswer."""
    if not isinstance(answer, Mapping):
        raise BadClassifierAnswer("the answer", "is no object")
    scores = _scores(answer)
    labels = _top_labels(answer) or tuple(
        {"label": label, "score": score} for label, score in list(scores.items())[:MAX_TOP_LABELS]
    )
    category = _text(answer, "category", MAX_LABEL_LENGTH) or (labels[0]["label"] if labels else "")
    if not category:
        raise BadClassifierAnswer("category", "is missing, and no label stands in for it")
    ranked = list(scores.values())
    nsfw_score = _number(answer, "nsfw_score", high=1)
    words = {name: _words(answer, name, limit) for name, limit in WORD_LISTS.items()}
    return Classification(
        provider=_text(answer, "provider", 64) or PROVIDER,
        model_name=_text(answer, "model_name", 120) or "unknown",
        classification_version=version,
        category=category,
        confidence=_or(_number(answer, "confidence", high=1, places=5), ranked[:1]),
        entropy=_number(answer, "entropy", high=MAX_ENTROPY),
        confidence_margin=_or(_number(answer, "confidence_margin", high=1), _margin(ranked)),
        all_scores=scores,
        top_labels=labels,
        nsfw_score=nsfw_score,
        is_nsfw=_flag(answer, "is_nsfw", fallback=(nsfw_score or 0) >= NSFW_EXPLICIT_FROM),
        affinity_weight=_number(answer, "affinity_weight", high=MAX_ENTROPY),
        ambiguous=_flag(answer, "ambiguous", fallback=False),
        subtags=words["llm_subtags"],
        style_traits=words["llm_style_traits"],
        emotions=words["llm_emotions"],
        pack_suggestions=words["llm_pack_suggestions"],
        semantic_cluster_id=_cluster_id(answer),
        semantic_cluster_slug=_text(answer, "semantic_cluster_slug", 255) or None,
        similar_images=_similar(answer),
        image_hash=_image_hash(answer) or sha256 or None,
    )


def _scores(answer: Mapping[str, Any]) -> dict[str, float]:
    """Labels with their scores, the strongest first."""
    found = answer.get("all_scores")
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise BadClassifierAnswer("all_scores", "is no object")
    if len(found) > MAX_LABELS:
        raise BadClassifierAnswer("all_scores", f"has more than {MAX_LABELS} labels")
    scores = {_label(key, "all_scores"): _number(found, key, high=1) or 0.0 for key in found}
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0])))


def _top_labels(answer: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    labels = []
    for entry in _list(answer, "top_labels")[:MAX_TOP_LABELS]:
        if not isinstance(entry, Mapping):
            raise BadClassifierAnswer("top_labels", "holds something else than objects")
        kept: dict[str, Any] = {"label": _label(entry.get("label"), "top_labels")}
        for name, low in (("score", 0.0), ("logit", -1e6), ("clip_score", -1e6)):
            value = _number(entry, name, low=low, high=1e6)
            if value is not None:
                kept[name] = value
        labels.append(kept)
    return tuple(labels)


def _similar(answer: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    similar = []
    for entry in _list(answer, "similar_images")[:MAX_SIMILAR]:
        if not isinstance(entry, Mapping):
            raise BadClassifierAnswer("similar_images", "holds something else than objects")
        kept: dict[str, Any] = {}
        for name in _SIMILAR_FIELDS[:2]:
            if text := _text(entry, name, 64):
                kept[name] = text
        for name in _SIMILAR_FIELDS[2:]:
            value = _number(entry, name, low=-1, high=1)
            if value is not None:
                kept[name] = value
        similar.append(kept)
    return tuple(similar)


def _words(answer: Mapping[str, Any], name: str, limit: int) -> tuple[str, ...]:
    """Words once each, whatever their case, in their order."""
    unique: dict[str, str] = {}
    for word in _list(answer, name):
        if not isinstance(word, str):
            raise BadClassifierAnswer(name, "holds something else than words")
        text = " ".join(word.split())[:MAX_LABEL_LENGTH]
        if text:
            unique.setdefault(text.lower(), text)
    return tuple(unique.values())[:limit]


def _list(answer: Mapping[str, Any], name: str) -> Sequence[Any]:
    found = answer.get(name)
    if found is None:
        return ()
    if not isinstance(found, list):
        raise BadClassifierAnswer(name, "is no list")
    return found


def _label(value: Any, field: str) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > MAX_LABEL_LENGTH:
        raise BadClassifierAnswer(field, f"needs labels of 1 to {MAX_LABEL_LENGTH} characters")
    return value.strip()


def _text(answer: Mapping[str, Any], name: str, limit: int) -> str:
    value = answer.get(name)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > limit:
        raise BadClassifierAnswer(name, f"is no text of at most {limit} characters")
    return value.strip()


def _number(
    answer: Mapping[str, Any], name: str, *, low: float = 0.0, high: float, places: int = 6
) -> float | None:
    value = answer.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, float | int) or value != value:  # noqa: PLR0124 (NaN)
        raise BadClassifierAnswer(str(name)[:MAX_LABEL_LENGTH], "is no number")
    # A softmax may end a rounding error above 1.
    if not low - 1e-6 <= value <= high + 1e-6:
        raise BadClassifierAnswer(str(name)[:MAX_LABEL_LENGTH], f"is not within {low} to {high}")
    return round(n6(min(max(value, low), high)), places)


def _flag(answer: Mapping[str, Any], name: str, *, fallback: bool) -> bool:
    value = answer.get(name)
    if value is None:
        return fallback
    if value not in (True, False):
        raise BadClassifierAnswer(name, "is neither true nor false")
    return bool(value)


def _cluster_id(answer: Mapping[str, Any]) -> int | None:
    value = answer.get("semantic_cluster_id")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**63:
        raise BadClassifierAnswer("semantic_cluster_id", "is no positive whole number")
    return value


def _image_hash(answer: Mapping[str, Any]) -> str:
    value = _text(answer, "image_hash", 64).lower()
    if value and not _HASH.fullmatch(value):
        raise BadClassifierAnswer("image_hash", "is no SHA-256 in hexadecimal")
    return value


def _margin(ranked: Sequence[float]) -> list[float]:
    return [n6(ranked[0] - ranked[1])] if len(ranked) > 1 else []


def _or(value: float | None, fallback: Sequence[float]) -> float | None:
    return value if value is not None else (fallback[0] if fallback else None)
