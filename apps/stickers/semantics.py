"""What a sticker's own words say of its theme. Pure.

Source: the semantic reclassification of OmniZap 2.2.5 (vectors `d_semantic_reclassify`). Labels and
tags become tokens, tokens fall into six themes, and the strongest theme is the sticker's.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from apps.stickers.scoring import n6

THEMES = ("anime", "meme", "kawaii", "horror", "reaction")
OTHER = "other"
# Words that stand for a theme without naming it.
SYNONYMS = {
    "cute": "kawaii",
    "manga": "anime",
    "lol": "meme",
    "scary": "horror",
    "reacting": "reaction",
}
STOP_WORDS = frozenset({"image", "sticker", "wallpaper", "social_media", "internet", "picture"})
GENERIC_WORDS = frozenset({"cool", "nice", "funny", "random", "art"})
MIN_WORD_LENGTH = 3
MAX_SUBTAGS = 40
AMBIGUOUS_BELOW_POINTS = 15
# Cute and frightening at once: nobody can tell which one is meant.
CONTRADICTION, CONTRADICTION_POINTS = ("kawaii", "horror"), 20
_WORDED = ("llm_subtags", "llm_style_traits", "llm_emotions", "llm_pack_suggestions")


@dataclass(frozen=True, slots=True)
class ThemeVerdict:
    """The theme that a sticker's words agree on; cohesion runs from 0 to 100."""

    normalized_subtags: tuple[str, ...]
    dominant_theme: str
    cohesion_score: float
    is_ambiguous: bool

    @property
    def affinity_weight(self) -> float:
        """Cohesion as a share."""
        return n6(self.cohesion_score / 100)


def judge_theme(classification: Mapping[str, Any]) -> ThemeVerdict:
    """Weigh all words of a classification. Themes equally strong rank by name."""
    tokens = Counter(token for text in _texts(classification) if (token := to_token(text)))
    total = sum(tokens.values())
    if not total:
        return ThemeVerdict((), OTHER, 0.0, is_ambiguous=False)
    weights: Counter[str] = Counter()
    for token, count in tokens.items():
        weights[theme_of(token)] += count
    ranked = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
    shares = [100 * weight / total for _theme, weight in ranked]
    is_contradictory = all(theme in weights for theme in CONTRADICTION)
    cohesion = shares[0] - (CONTRADICTION_POINTS if is_contradictory else 0)
    is_close = len(shares) > 1 and shares[0] - shares[1] < AMBIGUOUS_BELOW_POINTS
    dominant = ranked[0][0]
    return ThemeVerdict(
        normalized_subtags=tuple(t for t in tokens if theme_of(t) == dominant)[:MAX_SUBTAGS],
        dominant_theme=dominant,
        cohesion_score=n6(max(0.0, cohesion)),
        is_ambiguous=is_contradictory or is_close,
    )


def to_token(text: str) -> str:
    """A phrase in snake case, without accents, short words and words that say nothing."""
    plain = unicodedata.normalize("NFD", text.lower())
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    silent = STOP_WORDS | GENERIC_WORDS
    words = [word for word in re.split(r"[^a-z0-9]+", plain) if len(word) >= MIN_WORD_LENGTH]
    token = "_".join(word for word in words if word not in silent)
    return "" if token in STOP_WORDS else token


def theme_of(token: str) -> str:
    """The theme of a token: by a synonym, by a theme's name in it, or by being part of one."""
    for word, theme in SYNONYMS.items():
        if word in token:
            return theme
    for theme in THEMES:
        if theme in token:
            return theme
    return next((theme for theme in THEMES if token in theme), OTHER)


def _texts(classification: Mapping[str, Any]) -> Iterable[str]:
    for label in classification.get("top_labels") or ():
        if isinstance(label, Mapping) and isinstance(label.get("label"), str):
            yield label["label"]
    for name in _WORDED:
        yield from (text for text in classification.get(name) or () if isinstance(text, str))
