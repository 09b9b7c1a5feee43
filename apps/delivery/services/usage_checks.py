"""The daily check of all counters, with or without MongoDB, and the end of closed periods."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.db.models import F, Q, QuerySet

from apps.delivery.models import UsageTotal
from apps.delivery.services.usage_counters import recompute, terms_of
from apps.delivery.usage.periods import period_from
from apps.delivery.usage.terms import frozen_terms

logger = logging.getLogger(__name__)

CHECK_EVERY = timedelta(hours=20)
# A month, its three late days, and two days in case no worker ran.
RECENT = timedelta(days=31 + 3 + 2)


@dataclass(frozen=True, slots=True)
class TotalsReport:
    """What a check of the counters found."""

    checked_count: int
    corrected_count: int
    settled_count: int


def due_totals(now: datetime) -> QuerySet[UsageTotal]:
    """Counters that are not settled and were not checked today, longest unchecked first."""
    is_due = Q(checked_at=None) | Q(checked_at__lt=now - CHECK_EVERY)
    is_open = Q(period__gte=(now - RECENT).date()) | Q(final_terms__isnull=True)
    rows = UsageTotal.objects.select_related("metric__app").filter(is_due, is_open)
    return rows.order_by(F("checked_at").asc(nulls_first=True), "pk")


def check_totals(
    *, now: datetime, max_seconds: float, clock: Callable[[], float] = time.monotonic
) -> TotalsReport:
    """Recompute the counters that are due, until the time is over; the rest waits for the next run.

    A closed period is settled: its plan's terms are kept with it, and later changes of the plan
    leave its invoice alone.
    """
    end = clock() + max_seconds
    checked = corrected = settled = 0
    for total in due_totals(now).iterator(chunk_size=200):
        if clock() >= end:
            break
        metric = total.metric
        report = recompute(metric.app.code, metric.code, total.period, now=now)
        checked += 1
        corrected += report.is_corrected
        settled += _settle(total, now)
    if checked:
        extra = {"checked_count": checked, "corrected_count": corrected}
        logger.info("delivery.usage_totals_checked", extra=extra)
    return TotalsReport(checked, corrected, settled)


def _settle(total: UsageTotal, now: datetime) -> int:
    app = total.metric.app
    period = period_from(total.period, ZoneInfo(app.time_zone), app.billing_day)
    if total.final_terms is not None or now < period.closes_at:
        return 0
    terms = frozen_terms(terms_of([total.metric]).get(total.metric_id))
    return UsageTotal.objects.filter(pk=total.pk, final_terms__isnull=True).update(
        final_terms=terms
    )
