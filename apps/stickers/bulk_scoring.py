"""The formulas of `scoring` for many packs at once, over arrays. Pure.

A rebuild scores hundreds of packs in one call; here each step is one array operation over all of
them. What it gives equals `scoring.pack_signals` and `scoring.pack_summary` to the sixth decimal:
a property test compares both.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from apps.stickers import scoring

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# The largest array: packs × stickers × labels; a larger batch is scored in halves.
MAX_CELLS = 4_000_000
_TIE = 1e-6


@dataclass(frozen=True, slots=True)
class PackRow:
    """What a pack's scores depend on besides its stickers."""

    pack_id: str
    changed_at: datetime | None
    like_count: int = 0
    open_count: int = 0
    dislike_count: int = 0
    open_horizon: int = 0
    open_baseline: int = 0
    is_marked_sensitive: bool = False


@dataclass(frozen=True, slots=True)
class StickerColumns:
    """The stickers of a batch, column by column, in the order of their packs and positions.

    `pack_index` says which pack of the batch each belongs to. `scores` is None where a sticker is
    not classified.
    """

    pack_index: Integers
    width: Floats
    height: Floats
    size_bytes: Floats
    scores: Sequence[Mapping[str, Any] | None]
    categories: Sequence[str | None]
    nsfw_scores: Sequence[float | None]
    is_nsfw: Sequence[bool]

    def part(self, low: int, high: int) -> "StickerColumns":
        """The stickers of the packs from `low` up to `high`, counted anew from 0."""
        first, last = np.searchsorted(self.pack_index, [low, high])
        cut = slice(int(first), int(last))
        return StickerColumns(
            self.pack_index[cut] - low,
            self.width[cut],
            self.height[cut],
            self.size_bytes[cut],
            self.scores[cut],
            self.categories[cut],
            self.nsfw_scores[cut],
            self.is_nsfw[cut],
        )


@dataclass(frozen=True, slots=True)
class PackScores:
    """All scores of one pack, its tags and how many stickers it holds."""

    signals: dict[str, Any]
    tags: list[str]
    sticker_count: int


@dataclass(frozen=True, slots=True)
class _Classified:
    """The classified stickers: whose they are, and the matrix of their scores by label."""

    pack_index: Integers
    counts: Integers
    matrix: Floats
    column_of: Mapping[str, int]
    labels: Sequence[Sequence[str]]
    rows: Integers

    def sums(self, values: Floats) -> Floats:
        """The sum of a value for each pack, in the order of its stickers."""
        sums: Floats = np.bincount(
            self.pack_index, weights=values, minlength=len(self.counts)
        ).astype(np.float64, copy=False)
        return sums


def score_packs(
    packs: Sequence[PackRow],
    stickers: StickerColumns,
    *,
    now: datetime,
    scoring_weights: Mapping[str, Any] | None = None,
) -> list[PackScores]:
    """The scores of each pack, in their order."""
    if not packs:
        return []
    classified = _classified(stickers, len(packs))
    size = len(packs) * int(classified.counts.max()) * len(classified.column_of)
    if size > MAX_CELLS and len(packs) > 1:
        middle = len(packs) // 2
        halves = ((0, middle), (middle, len(packs)))
        return [
            scores
            for low, high in halves
            for scores in score_packs(
                packs[low:high],
                stickers.part(low, high),
                now=now,
                scoring_weights=scoring_weights,
            )
        ]
    weights = scoring.bounded_weights(scoring_weights or {})
    return _scored(packs, stickers, classified, weights=weights, now=now)


def round_six(values: Floats) -> Floats:
    """`scoring.n6` for an array; what lies close to a half is rounded by it, exactly."""
    scaled = np.abs(values) * 1e6
    whole = np.floor(scaled)
    rounded = np.sign(values) * np.floor(scaled + 0.5) / 1e6
    for place in np.argwhere(np.abs(scaled - whole - 0.5) < _TIE):
        rounded[tuple(place)] = scoring.n6(float(values[tuple(place)]))
    return rounded


def _scored(
    packs: Sequence[PackRow],
    stickers: StickerColumns,
    classified: _Classified,
    *,
    weights: Mapping[str, float],
    now: datetime,
) -> list[PackScores]:
    counts = np.bincount(stickers.pack_index, minlength=len(packs))
    means = _means(classified)
    confidence, tags, found = _described(stickers, classified, means)
    # A moderator's mark only adds to what classifiers found.
    levels = [
        "suggestive" if pack.is_marked_sensitive and level == "safe" else level
        for pack, level in zip(packs, found, strict=True)
    ]
    similarity, duplicate_share = _similarities(classified)
    known = classified.counts
    spread = np.array([len(names) for names in tags]) / np.maximum(3, np.minimum(12, known))
    mean_or_half = np.where(known > 1, similarity, 0.5)
    diverse = 0.7 * np.clip(1 - mean_or_half, 0, 1) + 0.3 * np.clip(spread, 0, 1)
    columns = {
        "classification_confidence": np.clip(confidence, 0, 1),
        "quality_score": _quality(stickers, classified, counts),
        "engagement_score": _engagement(packs),
        "diversity_score": np.where(known > 0, round_six(diverse), 0.25),
        "cohesion_score": np.where(known > 1, round_six(np.clip(similarity, 0, 1)), 1.0),
        "duplicate_penalty": round_six(0.7 * duplicate_share),
        "trend_score": _trend(packs),
        "age_decay_factor": _decay(packs, now),
    }
    return _assembled(columns, levels, tags, counts, weights)


def _assembled(
    columns: dict[str, Floats],
    levels: Sequence[str],
    tags: Sequence[list[str]],
    counts: Integers,
    weights: Mapping[str, float],
) -> list[PackScores]:
    parts = ("classification_confidence", "engagement_score", "quality_score", "diversity_score")
    weighted = np.zeros(len(levels))
    for part, weight in zip(parts, weights.values(), strict=True):
        weighted = weighted + columns[part] * weight
    pack_score = round_six(np.clip(weighted - 0.25 * columns["duplicate_penalty"], 0, 1.5))
    columns["pack_score"] = pack_score
    columns["ranking_score"] = round_six(
        pack_score * columns["age_decay_factor"]
        + 0.08 * columns["trend_score"]
        + 0.05 * columns["cohesion_score"]
    )
    names = list(columns)
    rows = zip(*(columns[name].tolist() for name in names), strict=True)
    fixed = {"age_decay_days": scoring.AGE_DECAY_DAYS, "scoring_weights": weights}
    return [
        PackScores(
            dict(zip(names, row, strict=True))
            | fixed
            | {
                "trending_now": row[names.index("trend_score")] >= scoring.TRENDING_FROM,
                "nsfw_level": level,
                "sensitive_content": level != "safe",
            },
            shown,
            count,
        )
        for row, level, shown, count in zip(rows, levels, tags, counts.tolist(), strict=True)
    ]


def _classified(stickers: StickerColumns, pack_count: int) -> _Classified:
    rows = np.array([row for row, found in enumerate(stickers.scores) if found is not None], int)
    found = [scores for scores in stickers.scores if scores is not None]
    # Most stickers carry the same labels in the same order, so equal tuples are kept once.
    known: dict[tuple[str, ...], tuple[str, ...]] = {}
    labels = [known.setdefault(key, key) for key in map(tuple, found)]
    column_of = {label: place for place, label in enumerate(dict.fromkeys(chain(*known)))}
    matrix = np.zeros((len(found), max(1, len(column_of))))
    groups: dict[tuple[str, ...], list[int]] = {key: [] for key in known}
    for row, key in enumerate(labels):
        groups[key].append(row)
    for key, members in groups.items():
        if key:
            columns = [column_of[label] for label in key]
            values = _numbers([found[row] for row in members])
            matrix[np.ix_(members, columns)] = values.reshape(len(members), len(key))
    pack_index = stickers.pack_index[rows]
    counts = np.bincount(pack_index, minlength=pack_count)
    return _Classified(pack_index, counts, matrix, column_of, labels, rows)


def _numbers(rows: Sequence[Mapping[str, Any]]) -> Floats:
    """All values in a row; only what is not plainly a number is looked at by itself."""
    values = list(chain.from_iterable(row.values() for row in rows))
    if not set(map(type, values)) <= {float, int}:
        values = [scoring.number(value) for value in values]
    numbers = np.array(values, dtype=float)
    return np.where(np.isfinite(numbers), numbers, 0.0)


def _means(classified: _Classified) -> Floats:
    """The mean of each label in each pack, absent labels counting 0."""
    sums = np.zeros((len(classified.counts), classified.matrix.shape[1]))
    np.add.at(sums, classified.pack_index, classified.matrix)
    return round_six(sums / np.maximum(1, classified.counts)[:, None])


def _described(
    stickers: StickerColumns, classified: _Classified, means: Floats
) -> tuple[Floats, list[list[str]], list[str]]:
    """Confidence, tags and sensitivity of each pack."""
    confidence = np.zeros(len(means))
    tags: list[list[str]] = []
    levels: list[str] = []
    rows = classified.rows.tolist()
    ends = np.cumsum(classified.counts).tolist()
    start = 0
    for place, end in enumerate(ends):
        chosen = rows[start:end]
        labels = dict.fromkeys(chain(*dict.fromkeys(classified.labels[start:end])))
        values = means[place].tolist()
        shown = {label: values[classified.column_of[label]] for label in labels}
        ranked = _majority([stickers.categories[row] for row in chosen])
        if shown:
            confidence[place] = max(shown.values())
        elif ranked:
            confidence[place] = scoring.n6(ranked[1] / len(chosen))
        flagged = sum(1 for row in chosen if stickers.is_nsfw[row])
        tags.append(scoring.pack_tags(ranked[0] if ranked else None, shown, is_nsfw=flagged > 0))
        levels.append(_level([stickers.nsfw_scores[row] for row in chosen], flagged))
        start = end
    return confidence, tags, levels


def _majority(categories: Sequence[str | None]) -> tuple[str, int] | None:
    counted = Counter(category for category in categories if category)
    return min(counted.items(), key=lambda item: (-item[1], item[0])) if counted else None


def _level(scores: Sequence[float | None], flagged: int) -> str:
    known = [score for score in scores if score is not None]
    highest = scoring.n6(max(known)) if any(known) else 0.0
    return scoring.nsfw_level({"max_score": highest, "flagged_items": flagged})


def _similarities(classified: _Classified) -> tuple[Floats, Floats]:
    """For each pack: the mean cosine of its pairs, and the share of pairs that look the same."""
    packs, most = len(classified.counts), int(classified.counts.max(initial=0))
    if most == 0:
        return np.zeros(packs), np.zeros(packs)
    norms = np.sqrt((classified.matrix * classified.matrix).sum(axis=1))
    unit = classified.matrix / np.where(norms > 0, norms, 1.0)[:, None]
    starts = np.cumsum(classified.counts) - classified.counts
    place = np.arange(len(unit)) - starts[classified.pack_index]
    padded = np.zeros((packs, most, unit.shape[1]))
    padded[classified.pack_index, place] = unit
    first, second = np.triu_indices(most, 1)
    cosines = np.clip((padded @ padded.transpose(0, 2, 1))[:, first, second], 0, 1)
    pairs = np.maximum(1, classified.counts * (classified.counts - 1) // 2)
    same = (cosines >= scoring.DUPLICATE_FROM).sum(axis=1)
    return cosines.sum(axis=1) / pairs, same / pairs


def _quality(stickers: StickerColumns, classified: _Classified, counts: Integers) -> Floats:
    area = stickers.width * stickers.height
    is_known = (stickers.width > 0) & (stickers.height > 0)
    area_score = np.where(is_known, np.clip(area / scoring.FULL_AREA, 0.2, 1), 0.45)
    weight = np.clip(stickers.size_bytes / scoring.FULL_SIZE_BYTES, 0.25, 1)
    size_score = np.where(stickers.size_bytes > 0, weight, 0.5)
    images = 0.65 * area_score + 0.35 * size_score
    sums = np.bincount(stickers.pack_index, weights=images, minlength=len(counts))
    losses = classified.sums(
        0.30 * _label(classified, "blurry image")
        + 0.35 * _label(classified, "low quality compressed image")
    )
    mean = sums / np.maximum(1, counts) - losses / np.maximum(1, classified.counts)
    return np.where(counts > 0, round_six(np.clip(mean, 0, 1)), 0.0)


def _label(classified: _Classified, label: str) -> Floats:
    column = classified.column_of.get(label)
    rows = len(classified.pack_index)
    return np.zeros(rows) if column is None else classified.matrix[:, column]


def _engagement(packs: Sequence[PackRow]) -> Floats:
    likes = np.array([pack.like_count for pack in packs], dtype=float)
    opens = np.array([pack.open_count for pack in packs], dtype=float)
    dislikes = np.array([pack.dislike_count for pack in packs], dtype=float)
    return round_six(np.clip((2 * likes + 0.15 * opens - 1.25 * dislikes) / 100, 0, 1.2))


def _trend(packs: Sequence[PackRow]) -> Floats:
    horizon = np.array([pack.open_horizon for pack in packs], dtype=float)
    daily = np.array([pack.open_baseline for pack in packs], dtype=float) / 7
    return round_six(np.clip(horizon / np.maximum(0.5, daily), 0, 20))


def _decay(packs: Sequence[PackRow], now: datetime) -> Floats:
    ages = (
        max(0.0, (now - pack.changed_at).total_seconds() / 86_400) if pack.changed_at else 0.0
        for pack in packs
    )
    return round_six(np.array([math.exp(-days / scoring.AGE_DECAY_DAYS) for days in ages]))
