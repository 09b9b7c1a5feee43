"""The classification cycle: new stickers, then those asked for again, then doubtful ones.

The passes do not wait for each other: when one fails, the others still run, and the first failure
is raised at the end, so that the task is tried again.
"""

import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction

from apps.stickers.choices import ReprocessReason
from apps.stickers.classifier import Classifier
from apps.stickers.services import classification, drift, reprocess_requests, reprocessing
from apps.stickers.services.classifiers import current_classifier
from apps.stickers.services.cursors import lock_cursor
from apps.stickers.services.semantic_pass import judge_doubtful

logger = logging.getLogger(__name__)

SEARCH_CURSOR = "reprocess search"
# The search for incomplete rows reads the whole table.
SEARCH_EVERY = timedelta(minutes=10)
COMPLETED_KEPT_SECONDS = 7 * 86_400
PRUNED_AT_ONCE = 1000


@dataclass(slots=True)
class CycleReport:
    """What each pass did."""

    enqueued: dict[str, int] = field(default_factory=dict)
    passes: dict[str, Any] = field(default_factory=dict)
    has_more: bool = False


def run_cycle(*, now: datetime, classifier: Classifier | None = None) -> CycleReport:
    """Run all passes once. Raises the first failure of a pass after the others have run."""
    chosen = classifier or current_classifier()
    report = CycleReport()
    passes: dict[str, Callable[[], Any]] = {
        "pending": lambda: classification.classify_pending(
            now=now, classifier=chosen, limit=settings.CLASSIFICATION_BATCH_SIZE
        ),
        "search": lambda: search_candidates(chosen, now=now),
        "reprocess": lambda: reprocessing.reprocess_due(
            now=now, classifier=chosen, limit=settings.REPROCESS_MAX_PER_CYCLE
        ),
        "deterministic": lambda: judge_doubtful(now=now, limit=settings.SEMANTIC_PASS_MAX),
        "prune": lambda: reprocessing.REPROCESS_QUEUE.prune(
            older_than_seconds=COMPLETED_KEPT_SECONDS, limit=PRUNED_AT_ONCE
        ),
    }
    failures = [failure for name, step in passes.items() if (failure := _run(name, step, report))]
    if failures:
        raise failures[0]
    logger.info("stickers.classified", extra={"report": asdict(report)})
    return report


def search_candidates(classifier: Classifier, *, now: datetime) -> dict[str, int]:
    """Ask for what should be classified again, for each of the four reasons."""
    if settings.REPROCESS_MAX_PER_CYCLE == 0:
        return {}
    found = {
        ReprocessReason.MODEL_UPGRADE.value: reprocess_requests.enqueue_outdated(
            classifier, now=now
        ),
        ReprocessReason.LOW_CONFIDENCE.value: reprocess_requests.enqueue_unsure(now=now),
        ReprocessReason.NSFW_REVIEW.value: reprocess_requests.enqueue_doubtful_content(now=now),
        ReprocessReason.TREND_SHIFT.value: _follow_trend(now),
    }
    if _is_search_due(now):
        found[ReprocessReason.MODEL_UPGRADE.value] += reprocess_requests.enqueue_incomplete(
            classifier, now=now
        )
    return found


def _follow_trend(now: datetime) -> int:
    measured = drift.measure_drift(now=now)
    if measured is None or float(measured.drift_score) < settings.TREND_SHIFT_FROM:
        return 0
    return reprocess_requests.enqueue_trending(drift.gaining_categories(measured), now=now)


@transaction.atomic
def _is_search_due(now: datetime) -> bool:
    cursor = lock_cursor(SEARCH_CURSOR)
    if cursor.moved_at and now - cursor.moved_at < SEARCH_EVERY:
        return False
    cursor.moved_at = now
    cursor.save()
    return True


def _run(name: str, step: Callable[[], Any], report: CycleReport) -> Exception | None:
    """Run one pass and note what it did, or the failure that it ended with."""
    try:
        result = step()
    except Exception as error:
        logger.warning("stickers.pass_failed", extra={"pass": name}, exc_info=error)
        return error
    if name == "search":
        report.enqueued = result
    else:
        report.passes[name] = result
    report.has_more |= bool(getattr(result, "has_more", False))
    return None
