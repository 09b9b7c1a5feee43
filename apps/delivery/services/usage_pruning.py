"""Deleting single events by age; counters, alerts and the terms of their periods stay."""

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef

from apps.delivery.choices import ReservationStatus
from apps.delivery.models import UsageEvent, UsageReservation, UsageTotal

logger = logging.getLogger(__name__)

DELETE_BATCH = 2_000


def prune_events(
    *,
    now: datetime,
    keep: timedelta,
    max_seconds: float,
    clock: Callable[[], float] = time.monotonic,
) -> int:
    """Delete events of settled periods that began so long ago, in small batches; tells how many.

    The counter is marked first: from then on nobody compares it with events that are going. A run
    that was killed is carried on by the next.
    """
    end, deleted = clock() + max_seconds, 0
    events = UsageEvent.objects.filter(metric=OuterRef("metric"), period=OuterRef("period"))
    due = UsageTotal.objects.filter(
        Exists(events), period__lt=(now - keep).date(), final_terms__isnull=False
    )
    for total in due.order_by("period", "pk"):
        UsageTotal.objects.filter(pk=total.pk, pruned_at=None).update(pruned_at=now)
        ended = UsageReservation.objects.filter(total=total)
        ended.exclude(status=ReservationStatus.HELD).delete()
        while clock() < end and (count := _delete_batch(total)):
            deleted += count
    if deleted:
        logger.info("delivery.usage_events_pruned", extra={"event_count": deleted})
    return deleted


def _delete_batch(total: UsageTotal) -> int:
    events = UsageEvent.objects.filter(metric_id=total.metric_id, period=total.period)
    ids = list(events.values_list("pk", flat=True)[:DELETE_BATCH])
    return UsageEvent.objects.filter(pk__in=ids).delete()[0]
