"""Writing down failed attempts, for the timeline of a dead letter."""

from collections.abc import Mapping
from datetime import timedelta

from django.utils import timezone

from apps.common.leased_queue import MAX_ERROR_LENGTH
from apps.outbox.choices import LeaseStatus
from apps.outbox.models import FailedAttempt, OutboxEvent

FORGET_BATCH = 1000


def note(
    event_id: int, attempt: int, errors: Mapping[str, str], *, retry_seconds: float | None
) -> None:
    """Write down what failed by handler, and in how many seconds it runs again (None: never)."""
    FailedAttempt.objects.bulk_create(
        FailedAttempt(
            event_id=event_id,
            attempt=attempt,
            handler=handler,
            error=error[:MAX_ERROR_LENGTH],
            retry_seconds=None if retry_seconds is None else max(0, round(retry_seconds)),
        )
        for handler, error in errors.items()
    )


def forget(*, older_than_days: int) -> int:
    """Delete old attempts in small batches, but not those of events still dead; tells how many."""
    old = FailedAttempt.objects.filter(
        failed_at__lt=timezone.now() - timedelta(days=older_than_days)
    )
    dead = OutboxEvent.objects.filter(status=LeaseStatus.FAILED)
    forgotten = 0
    # The ids are read first, so that deleting locks no event.
    while ids := list(old.exclude(event_id__in=dead.values("pk"))[:FORGET_BATCH].values_list("pk")):
        forgotten += FailedAttempt.objects.filter(pk__in=[pk for (pk,) in ids]).delete()[0]
    return forgotten
