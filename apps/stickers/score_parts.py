"""A pack's rank taken apart: what each score adds to it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.stickers.scoring import WEIGHT_BOUNDS, number

BAR = 300
# Each part of the pack score: where its value stands, and which weight it has.
WEIGHED = (
    ("classification_confidence", "classification"),
    ("engagement_score", "engagement"),
    ("quality_score", "quality"),
    ("diversity_score", "diversity"),
)
PENALTY, TREND, COHESION = -0.25, 0.08, 0.05


@dataclass(frozen=True, slots=True)
class Part:
    """One part: the score, its weight after decay, what it adds, and the length of its bar."""

    name: str
    score: float
    weight: float
    added: float
    width: int


def score_parts(signals: Mapping[str, Any]) -> list[Part]:
    """The parts of a rank, from the signals of a snapshot; together they make the rank.

    Only a pack score at its bounds (0 and 1.5) makes less or more than its parts.
    """
    weights = signals.get("scoring_weights") or {}
    decay = number(signals.get("age_decay_factor", 1))
    rows = [
        (name, number(weights.get(weight, WEIGHT_BOUNDS[weight][2])) * decay)
        for name, weight in WEIGHED
    ]
    rows += [
        ("duplicate_penalty", PENALTY * decay),
        ("trend_score", TREND),
        ("cohesion_score", COHESION),
    ]
    added = [(name, number(signals.get(name)), weight) for name, weight in rows]
    longest = max((abs(score * weight) for _name, score, weight in added), default=0) or 1
    return [
        Part(name, score, weight, score * weight, round(BAR * abs(score * weight) / longest))
        for name, score, weight in added
    ]
