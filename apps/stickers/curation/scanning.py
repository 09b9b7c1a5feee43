"""Step 2: which classified stickers are good enough for a pack, and of which theme. Pure.

All stickers of a scan are weighed together as arrays. Each is judged in several passes with a
little noise, and only what holds up in most of them is taken.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from apps.stickers.curation.noise import noise
from apps.stickers.curation.rules import NSFW_THEMES, Reason, Rules
from apps.stickers.scoring import TAG_OF_LABEL, label_slug, n6

BLURRY, LOW_QUALITY = "blurry image", "low quality compressed image"
TECHNICAL_TAGS = frozenset(
    {
        "blurry-image",
        "low-quality-compressed-image",
        "invalid-image",
        "classification-failed",
        "decoder-error",
        "non-retryable-error",
        "nsfw",
    }
)
MAX_KEY_LENGTH = 96
ANIMATED = "+animated"
# One-sided 90 %: the lower bound of what a sticker scores.
CONFIDENCE_Z = 1.282
FULL_AFFINITY = 0.85
ENTROPY_SCALE = 2.5


@dataclass(frozen=True, slots=True)
class Candidate:
    """What is known of a classified sticker."""

    asset_id: str
    is_animated: bool
    width: int
    height: int
    size_bytes: int
    confidence: float = 0.0
    entropy: float = 0.0
    margin: float = 0.0
    nsfw_score: float = 0.0
    is_nsfw: bool = False
    affinity: float = 0.0
    is_ambiguous: bool = False
    scores: Mapping[str, float] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    traits: tuple[str, ...] = ()
    cluster_slug: str = ""
    max_similarity: float = 0.0
    shape: int | None = None
    colour: tuple[int, ...] = ()
    is_allowed: bool = True


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate with its theme and score; a refused one has a reason."""

    candidate: Candidate
    theme_key: str
    tags: Mapping[str, float]
    quality: float
    theme_score: float
    robust_score: float
    refusal: Reason | None = None

    @property
    def is_sensitive(self) -> bool:
        """Whether its theme is one of the sensitive ones."""
        return self.theme_key.partition("+")[0] in NSFW_THEMES

    def score_in(self, theme_key: str) -> float:
        """How strongly it shows a theme, its own or another."""
        return self.tags.get(theme_key.partition("+")[0].partition(":")[0], 0.0)


def judge(candidates: Sequence[Candidate], rules: Rules) -> list[Judged]:
    """Judge all candidates of a scan, in their order."""
    if not candidates:
        return []
    options = [theme_tags(candidate, rules) for candidate in candidates]
    quality = np.array([_quality(candidate) for candidate in candidates])
    strength = np.zeros((len(candidates), rules.top_tags))
    for row, tags in enumerate(options):
        strength[row, : len(tags)] = list(tags.values())
    values = _columns(candidates)
    score = _candidate_scores(values, quality, strength[:, 0])
    votes, dominance = _votes(candidates, score, strength, rules)
    acceptance = (votes >= rules.min_score).mean(axis=0)
    robust = _robust_scores(values, quality, strength[:, 0], votes, acceptance)
    return [
        _judged(
            candidate,
            options[row],
            quality=float(quality[row]),
            robust=n6(float(robust[row])),
            is_accepted=bool(acceptance[row] >= rules.min_acceptance),
            is_sure=bool(dominance[row] >= rules.min_dominance),
            rules=rules,
        )
        for row, candidate in enumerate(candidates)
    ]


def theme_tags(candidate: Candidate, rules: Rules) -> dict[str, float]:
    """The tags that may be its theme, strongest first: sensitive, then cluster, then labels."""
    tags: dict[str, float] = {}
    if candidate.nsfw_score >= rules.explicit_from:
        return {NSFW_THEMES[0]: candidate.nsfw_score}
    if candidate.is_nsfw or candidate.nsfw_score >= rules.suggestive_from:
        return {NSFW_THEMES[1]: max(candidate.nsfw_score, rules.suggestive_from)}
    if rules.uses_clusters and candidate.cluster_slug:
        tags[label_slug(candidate.cluster_slug)] = max(candidate.affinity, candidate.confidence)
    ranked = sorted(candidate.scores.items(), key=lambda item: (-item[1], item[0]))
    labels = [(_tag(label), value) for label, value in ranked if value >= rules.tag_from]
    # Words have no score of their own; behind the labels they only tell subthemes apart.
    labels += [(label_slug(word), rules.tag_from) for word in candidate.words]
    for tag, value in labels:
        if tag and tag not in TECHNICAL_TAGS:
            tags.setdefault(tag, value)
    return dict(list(tags.items())[: rules.top_tags])


def theme_key(candidate: Candidate, tags: Sequence[str]) -> str:
    """`theme:subtheme`; WhatsApp never mixes still and animated stickers, so neither do themes."""
    key = ":".join(tags[:2])
    suffix = ANIMATED if candidate.is_animated else ""
    return key[: MAX_KEY_LENGTH - len(suffix)] + suffix


def _judged(
    candidate: Candidate,
    tags: Mapping[str, float],
    *,
    quality: float,
    robust: float,
    is_accepted: bool,
    is_sure: bool,
    rules: Rules,
) -> Judged:
    theme_score = next(iter(tags.values()), 0.0)
    refusal = _gate(candidate, rules)
    if refusal is None and not tags:
        refusal = Reason.NO_THEME
    if refusal is None and theme_score < rules.move_in_from:
        refusal = Reason.WEAK_THEME
    if refusal is None and not is_accepted:
        refusal = Reason.LOW_SCORE
    if refusal is None and not is_sure:
        refusal = Reason.UNSURE_THEME
    key = theme_key(candidate, list(tags)) if tags else ""
    return Judged(candidate, key, tags, quality, theme_score, robust, refusal)


def _gate(candidate: Candidate, rules: Rules) -> Reason | None:
    """The first rule of quality that a sticker breaks."""
    if not candidate.is_allowed:
        return Reason.NOT_PUBLIC
    if min(candidate.width, candidate.height) < rules.min_side:
        return Reason.TOO_SMALL
    if candidate.size_bytes < rules.min_size_bytes:
        return Reason.TOO_LIGHT
    blur = max(candidate.scores.get(BLURRY, 0.0), candidate.scores.get(LOW_QUALITY, 0.0))
    return Reason.BLURRY if blur > rules.max_blur else None


def _quality(candidate: Candidate) -> float:
    blurry = candidate.scores.get(BLURRY, 0.0)
    low = candidate.scores.get(LOW_QUALITY, 0.0)
    return max(0.2, 1 - min(0.6, 0.35 * blurry + 0.35 * low))


@dataclass(frozen=True, slots=True)
class _Columns:
    confidence: np.ndarray
    entropy: np.ndarray
    entropy_share: np.ndarray
    affinity: np.ndarray
    margin: np.ndarray
    ambiguous: np.ndarray
    similarity: np.ndarray


def _columns(candidates: Sequence[Candidate]) -> _Columns:
    raw = np.array([min(max(c.affinity, 0.0), FULL_AFFINITY) for c in candidates])
    return _Columns(
        confidence=np.array([c.confidence for c in candidates]),
        entropy=np.array([c.entropy for c in candidates]),
        entropy_share=np.array([_entropy_share(c) for c in candidates]),
        affinity=np.log1p(4 * raw) / math.log1p(4),
        margin=np.array([c.margin for c in candidates]),
        ambiguous=np.array([float(c.is_ambiguous) for c in candidates]),
        similarity=np.array([c.max_similarity for c in candidates]),
    )


def _entropy_share(candidate: Candidate) -> float:
    """Entropy as a share of the most that so many labels can have."""
    labels = len(candidate.scores)
    scale = math.log(labels) if labels > 1 else ENTROPY_SCALE
    return min(1.0, candidate.entropy / scale)


def _candidate_scores(values: _Columns, quality: np.ndarray, theme: np.ndarray) -> np.ndarray:
    asset_quality = (
        0.34 * values.confidence
        + 0.24 * (1 - values.entropy_share)
        + 0.18 * values.affinity
        + 0.24 * theme
    )
    score = (
        0.65 * asset_quality
        + 0.2 * quality
        + 0.18 * values.affinity
        + 0.12 * values.margin
        - (0.06 * values.ambiguous + 0.09 * values.entropy_share)
        - 0.08 * values.similarity
    )
    clipped: np.ndarray = np.clip(score, 0, 1.2)
    return clipped


def _votes(
    candidates: Sequence[Candidate], score: np.ndarray, strength: np.ndarray, rules: Rules
) -> tuple[np.ndarray, np.ndarray]:
    """The score of each pass, and how many passes agree with the theme without noise."""
    ids = [candidate.asset_id for candidate in candidates]
    votes, agreements = [], []
    for number in range(rules.passes):
        votes.append(score * (1 + rules.jitter * noise(ids, f":{number}")))
        tags = range(strength.shape[1])
        shaken = [1 + rules.jitter * noise(ids, f":{number}:{tag}") for tag in tags]
        agreements.append((strength * np.stack(shaken, axis=1)).argmax(axis=1) == 0)
    return np.stack(votes), np.stack(agreements).mean(axis=0)


def _robust_scores(
    values: _Columns,
    quality: np.ndarray,
    theme: np.ndarray,
    votes: np.ndarray,
    acceptance: np.ndarray,
) -> np.ndarray:
    mean, deviation = votes.mean(axis=0), votes.std(axis=0)
    lower = mean - CONFIDENCE_Z * deviation / math.sqrt(len(votes))
    parts = np.stack([quality, theme, values.confidence])
    harmonic = np.where(parts.min(axis=0) > 0, 3 / (1 / np.maximum(parts, 1e-9)).sum(axis=0), 0)
    score = (
        0.46 * lower
        + 0.16 * mean
        + 0.14 * theme
        + 0.08 * values.confidence
        + 0.16 * harmonic
        + 0.054 * values.margin
        + 0.072 * values.affinity
        - np.minimum(0.42, 0.09 * values.entropy)
        - 0.06 * values.ambiguous
        - 0.5 * (0.08 * values.similarity)
    )
    steady = np.maximum(0.4, 1 - np.minimum(0.55, 0.18 * deviation))
    clipped: np.ndarray = np.clip(score * (0.72 + 0.28 * np.sqrt(acceptance)) * steady, 0, 1.2)
    return clipped


def _tag(label: str) -> str:
    return TAG_OF_LABEL.get(label.strip().lower()) or label_slug(label)
