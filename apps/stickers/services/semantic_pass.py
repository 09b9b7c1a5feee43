"""The deterministic pass: doubtful classifications are judged by their own words.

A cursor in the database remembers where the last cycle stopped, so that every row has its turn
however many there are (W9); the pass goes round for ever and writes only what changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Q, QuerySet

from apps.common.fields import now_seconds
from apps.stickers.classifier import BUILT_IN
from apps.stickers.models import AssetClassification
from apps.stickers.semantics import ThemeVerdict, judge_theme
from apps.stickers.services.classification import INVALID_IMAGE, announce_classified
from apps.stickers.services.cursors import lock_cursor

CURSOR = "semantic pass"
BATCH_SIZE = 400
ENTROPY_ABOVE, AFFINITY_BELOW = 0.8, 0.3
# Smaller differences are rounding.
EQUAL_WITHIN = 1e-6


@dataclass(frozen=True, slots=True)
class SemanticReport:
    """How many rows were judged and how many of them changed."""

    judged: int
    changed: int


def judge_doubtful(*, now: datetime, limit: int) -> SemanticReport:
    """Judge the next doubtful rows, at most `limit`, going on where the last call stopped."""
    judged = changed = 0
    while judged < limit:
        count, changes, is_round_over = _judge_batch(min(BATCH_SIZE, limit - judged), now=now)
        judged += count
        changed += changes
        if is_round_over:
            break
    return SemanticReport(judged, changed)


@transaction.atomic
def _judge_batch(size: int, *, now: datetime) -> tuple[int, int, bool]:
    cursor = lock_cursor(CURSOR)
    after = doubtful_classifications().filter(pk__gt=cursor.position)
    rows = list(after.select_for_update().order_by("pk")[:size])
    changed = sum(_apply(row, judge_theme(_words(row))) for row in rows)
    is_round_over = len(rows) < size
    cursor.position = "" if is_round_over else rows[-1].pk
    cursor.moved_at = now
    cursor.save()
    return len(rows), changed, is_round_over


def doubtful_classifications() -> QuerySet[AssetClassification]:
    """Rows that are ambiguous, spread over many labels, or hardly belong to their theme.

    The built-in classifier names styles and not themes, so its rows have nothing to judge.
    """
    is_doubtful = (
        Q(ambiguous=True) | Q(entropy__gt=ENTROPY_ABOVE) | Q(affinity_weight__lt=AFFINITY_BELOW)
    )
    rows = AssetClassification.objects.filter(is_doubtful)
    return rows.exclude(provider=BUILT_IN).exclude(category=INVALID_IMAGE)


def _words(row: AssetClassification) -> dict[str, Sequence[object]]:
    return {
        "top_labels": row.top_labels or (),
        "llm_subtags": row.llm_subtags or (),
        "llm_style_traits": row.llm_style_traits or (),
        "llm_emotions": row.llm_emotions or (),
        "llm_pack_suggestions": row.llm_pack_suggestions or (),
    }


def _apply(row: AssetClassification, verdict: ThemeVerdict) -> bool:
    """Write a verdict that says something new, with its event."""
    subtags = list(verdict.normalized_subtags)
    affinity = float(row.affinity_weight) if row.affinity_weight is not None else -1.0
    if (
        subtags == (row.llm_subtags or [])
        and verdict.is_ambiguous == row.ambiguous
        and abs(affinity - verdict.affinity_weight) <= EQUAL_WITHIN
    ):
        return False
    AssetClassification.objects.filter(pk=row.pk).update(
        llm_subtags=subtags,
        affinity_weight=verdict.affinity_weight,
        ambiguous=verdict.is_ambiguous,
        updated_at=now_seconds(),
    )
    announce_classified(
        row.pk,
        {
            "category": row.category,
            "confidence": None if row.confidence is None else float(row.confidence),
            "nsfw_score": None if row.nsfw_score is None else float(row.nsfw_score),
            "is_nsfw": row.is_nsfw,
            "classification_version": row.classification_version,
        },
    )
    return True
