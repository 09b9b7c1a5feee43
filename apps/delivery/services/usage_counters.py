"""The counters of usage: made once, locked in one order, and compared with the events.

Every writer locks the counter before it writes events or reservations of it, so that writers of one
counter take turns and can neither deadlock nor see half of each other's batch.
"""

import logging
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date, datetime

from django.db import transaction
from django.db.models import Count, Sum

from apps.common.dialects import retry_deadlocks
from apps.delivery import usage_figures
from apps.delivery.choices import ReservationStatus
from apps.delivery.errors import UsageEventsPruned, UsageMetricNotFound
from apps.delivery.models import PlanLimit, UsageEvent, UsageMetric, UsageReservation, UsageTotal
from apps.delivery.usage.terms import Terms

logger = logging.getLogger(__name__)

CounterKey = tuple[int, date]


@dataclass(frozen=True, slots=True)
class RecomputeReport:
    """What a counter said and what the events say; equal unless something went wrong."""

    app_code: str
    metric_code: str
    period: str
    used_before: int
    used: int
    reserved_before: int
    reserved: int
    event_count_before: int
    event_count: int

    @property
    def is_corrected(self) -> bool:
        """Whether the counter had to be mended."""
        before = (self.used_before, self.reserved_before, self.event_count_before)
        return before != (self.used, self.reserved, self.event_count)


def find_metric(app_code: str, metric_code: str) -> UsageMetric:
    """The metric with its app. Raises UsageMetricNotFound."""
    found = UsageMetric.objects.select_related("app").filter(app__code=app_code, code=metric_code)
    metric = found.first()
    # MySQL compares the app's code without case.
    if metric is None or metric.app.code != app_code:
        raise UsageMetricNotFound(app_code, metric_code)
    return metric


def terms_of(metrics: Iterable[UsageMetric]) -> dict[int, Terms]:
    """The terms of each metric by its id, from the plans of their apps; unlimited ones are absent.

    The metrics bring their apps along.
    """
    wanted = list(metrics)
    limits = PlanLimit.objects.filter(
        plan_id__in={metric.app.plan_id for metric in wanted},
        metric_code__in={metric.code for metric in wanted},
    )
    terms = {(limit.plan_id, limit.metric_code): limit.terms for limit in limits}
    keys = {metric.pk: (metric.app.plan_id, metric.code) for metric in wanted}
    return {pk: terms[key] for pk, key in keys.items() if key in terms}


def ensure_totals(keys: Collection[CounterKey]) -> dict[CounterKey, int]:
    """The ids of the counters; missing ones are made, in an order that all writers share.

    Call it before the transaction that locks them: made inside, two writers could wait for each
    other's new rows.
    """
    found = _ids_of(keys)
    missing = sorted(set(keys) - found.keys())
    if missing:
        rows = [UsageTotal(metric_id=metric_id, period=period) for metric_id, period in missing]
        retry_deadlocks(lambda: UsageTotal.objects.bulk_create(rows, ignore_conflicts=True))
        found = _ids_of(keys)
    return found


def _ids_of(keys: Collection[CounterKey]) -> dict[CounterKey, int]:
    rows = UsageTotal.objects.filter(
        metric_id__in={metric_id for metric_id, _period in keys},
        period__in={period for _metric_id, period in keys},
    )
    wanted = set(keys)
    ids = {
        (metric, period): pk for pk, metric, period in rows.values_list("pk", "metric", "period")
    }
    return {key: pk for key, pk in ids.items() if key in wanted}


def lock_totals(ids: Collection[int]) -> dict[CounterKey, UsageTotal]:
    """The counters, locked in the order of their ids until the transaction ends."""
    rows = UsageTotal.objects.select_for_update().filter(pk__in=ids).order_by("pk")
    return {(row.metric_id, row.period): row for row in rows}


def recompute(
    app: str, metric: str, period: str | date, *, now: datetime, is_rehearsal: bool = False
) -> RecomputeReport:
    """Count the events and reservations of a period anew and mend its counter if it differs.

    `period` is the period's first day. Safe to repeat and to run beside reporting apps: the
    counter is locked while its events are summed. A rehearsal tells the difference and changes
    nothing. Raises UsageMetricNotFound, UsageEventsPruned.
    """
    found = find_metric(app, metric)
    first_day = date.fromisoformat(period) if isinstance(period, str) else period
    total_id = ensure_totals([(found.pk, first_day)])[found.pk, first_day]
    report = retry_deadlocks(lambda: _recompute(found, total_id, now, is_rehearsal=is_rehearsal))
    if report.is_corrected and not is_rehearsal:
        extra = {
            "app_code": app,
            "metric": metric,
            "period": report.period,
            "used_before": report.used_before,
            "used": report.used,
        }
        logger.error("delivery.usage_total_corrected", extra=extra)
        usage_figures.count_correction()
    return report


@transaction.atomic
def _recompute(
    metric: UsageMetric, total_id: int, now: datetime, *, is_rehearsal: bool
) -> RecomputeReport:
    total = next(iter(lock_totals([total_id]).values()))
    if total.pruned_at is not None:
        raise UsageEventsPruned("The events of this period were deleted by age.")
    counted = UsageEvent.objects.filter(metric=metric, period=total.period).aggregate(
        used=Sum("quantity"), event_count=Count("pk")
    )
    held = UsageReservation.objects.filter(total=total, status=ReservationStatus.HELD)
    reserved = held.aggregate(units=Sum("quantity"))["units"] or 0
    report = RecomputeReport(
        app_code=metric.app.code,
        metric_code=metric.code,
        period=total.period.isoformat(),
        used_before=total.used,
        used=int(counted["used"] or 0),
        reserved_before=total.reserved,
        reserved=int(reserved),
        event_count_before=total.event_count,
        event_count=counted["event_count"],
    )
    if not is_rehearsal:
        UsageTotal.objects.filter(pk=total.pk).update(
            used=report.used,
            reserved=report.reserved,
            event_count=report.event_count,
            checked_at=now,
        )
    return report
