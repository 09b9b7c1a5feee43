"""Lines that usage reaches: one row and one event for each, in the transaction that counted."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime

from apps.delivery.choices import AlertKind
from apps.delivery.models import LimitAlert, UsageMetric
from apps.delivery.usage.charges import reached_alerts
from apps.delivery.usage.terms import Terms
from apps.outbox.services import publish

LIMIT_EVENT = "USAGE_LIMIT_REACHED"


@dataclass(frozen=True, slots=True)
class Counted:
    """A counter after it was raised; its row is locked."""

    metric: UsageMetric
    period: date
    used: int
    terms: Terms | None


def raise_alerts(counters: Iterable[Counted], *, now: datetime) -> int:
    """Write the alerts that are due and not there yet; tells how many.

    Looks at where usage stands, not at the step that led there, so that a plan whose limit was
    lowered below the usage gives its alerts with the next event. Call it in the transaction that
    holds the counters' locks.
    """
    due = [alert for counter in counters for alert in _reached(counter, now)]
    if not due:
        return 0
    known = set(
        LimitAlert.objects.filter(
            metric_id__in={alert.metric_id for alert in due},
            period__in={alert.period for alert in due},
        ).values_list("metric_id", "period", "kind", "percent", "threshold")
    )
    new = [alert for alert in due if _key(alert) not in known]
    LimitAlert.objects.bulk_create(new)
    for alert in new:
        _publish(alert)
    return len(new)


def _reached(counter: Counted, now: datetime) -> list[LimitAlert]:
    terms = counter.terms
    if terms is None:
        return []
    lines = [
        (AlertKind.PERCENT, percent, terms.included)
        for percent in reached_alerts(counter.used, terms.included)
    ]
    if terms.soft_limit and counter.used >= terms.soft_limit:
        lines.append((AlertKind.SOFT_LIMIT, 0, terms.soft_limit))
    return [
        LimitAlert(
            metric=counter.metric,
            period=counter.period,
            kind=kind,
            percent=percent,
            threshold=threshold,
            used=counter.used,
            created_at=now,
        )
        for kind, percent, threshold in lines
    ]


def _key(alert: LimitAlert) -> tuple[int, date, str, int, int]:
    return (alert.metric_id, alert.period, str(alert.kind), alert.percent, alert.threshold)


def _publish(alert: LimitAlert) -> None:
    metric = alert.metric
    payload = {
        "app": metric.app.code,
        "metric": metric.code,
        "period": alert.period.isoformat(),
        "kind": str(alert.kind),
        "percent": alert.percent,
        "threshold": alert.threshold,
        "used": alert.used,
    }
    publish(LIMIT_EVENT, "usage_metric", f"{metric.app.code}/{metric.code}", payload)
