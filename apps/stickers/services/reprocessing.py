"""Working the reprocess queue: stickers are classified again under leases.

A worker that dies loses its lease, and its rows are taken again (Q5); one that fails keeps coming
back with growing pauses, and ends as a dead row that an operator can send back.
"""

import logging
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from apps.common.errors import Unavailable
from apps.common.leased_queue import Claim, LeasedQueue, Row, kept_alive
from apps.outbox.retry import RetryPolicy
from apps.outbox.stopping import stop_requested
from apps.stickers.classifier import Classifier
from apps.stickers.models import ReprocessTask, StickerAsset
from apps.stickers.services import classification

logger = logging.getLogger(__name__)

REPROCESS_QUEUE = LeasedQueue(
    model=ReprocessTask, due="scheduled_at", columns=("asset_id",), group="reason"
)
RETRY = RetryPolicy(base_seconds=120, cap_seconds=3600)
CLAIM_SIZE = 16


@dataclass(slots=True)
class ReprocessReport:
    """What became of the rows of one cycle."""

    completed: int = 0
    changed: int = 0
    retried: int = 0
    dead: int = 0


def reprocess_due(*, now: datetime, classifier: Classifier, limit: int) -> ReprocessReport:
    """Classify due stickers again, at most `limit`.

    Raises ClassifierMisconfigured, and ClassifierUnavailable when nothing at all was answered.
    """
    report = ReprocessReport()
    lease_seconds = settings.OUTBOX_LEASE_SECONDS
    count = 0
    failure: Unavailable | None = None
    while count < limit and not stop_requested.is_set():
        claim = REPROCESS_QUEUE.claim(min(CLAIM_SIZE, limit - count), lease_seconds=lease_seconds)
        if claim is None:
            break
        with kept_alive(REPROCESS_QUEUE, claim.token, lease_seconds=lease_seconds):
            failure = _work(claim, report, classifier, now=now) or failure
        count += len(claim.rows)
        if failure and not report.completed:
            raise failure
    return report


def redrive(ids: Sequence[int]) -> list[int]:
    """Send dead requests back with fresh attempts; tells which ones moved."""
    return REPROCESS_QUEUE.redrive(ids)


def _work(
    claim: Claim, report: ReprocessReport, classifier: Classifier, *, now: datetime
) -> Unavailable | None:
    """Work the rows of a claim; rows that were not begun when it breaks are given back."""
    rows = {row.values[0]: row for row in claim.rows}
    assets = list(StickerAsset.objects.filter(pk__in=rows).order_by("pk"))
    open_ids = {row.id for row in claim.rows}
    failure: Unavailable | None = None
    try:
        for outcome in classification.ask(assets, classifier):
            row = rows[outcome.asset.pk]
            if outcome.result is None:
                failure = outcome.failure
                _fail(row, claim.token, report, error=str(outcome.failure))
            elif REPROCESS_QUEUE.holds(row.id, token=claim.token):
                report.changed += classification.store(
                    outcome, outcome.result, now=now, replaces=True
                )
                report.completed += REPROCESS_QUEUE.complete([row.id], token=claim.token)
            open_ids.discard(row.id)
    finally:
        REPROCESS_QUEUE.release(sorted(open_ids), token=claim.token)
    return failure


def _fail(row: Row, token: str, report: ReprocessReport, *, error: str) -> None:
    if row.is_last_attempt:
        report.dead += REPROCESS_QUEUE.bury([row], token=token, error=error)
        return
    delay = RETRY.delay_seconds(row.attempts, rng=random.Random(row.id))  # noqa: S311 (jitter)
    report.retried += REPROCESS_QUEUE.retry([row.id], token=token, error=error, delay_seconds=delay)
