"""Taking usage events in: each counted once, or refused with its reason, in one transaction.

An event counts only if its row was written: the unique row of (metric, event id) and the counter
change together or not at all, so an event whose write failed is new when it is sent again.
"""

import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from zoneinfo import ZoneInfo

from django.db import IntegrityError, transaction
from django.db.models import F

from apps.common.dialects import retry_deadlocks
from apps.delivery import usage_figures
from apps.delivery.models import App, UsageEvent, UsageMetric, UsageTotal
from apps.delivery.services.usage_alerts import Counted, raise_alerts
from apps.delivery.services.usage_counters import (
    CounterKey,
    ensure_totals,
    lock_totals,
    terms_of,
)
from apps.delivery.services.usage_rows import EventRow, insert_events
from apps.delivery.usage.events import Refusal, UsageReport, broken_rule, place_in_time
from apps.delivery.usage.parsing import printable
from apps.delivery.usage.periods import local_day
from apps.delivery.usage.terms import Terms

logger = logging.getLogger(__name__)


class Acceptance(StrEnum):
    """What became of an event that is counted."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one event of a batch."""

    event_id: str
    status: Acceptance | Refusal

    @property
    def is_refused(self) -> bool:
        """Whether the event is not counted."""
        return isinstance(self.status, Refusal)


@dataclass(slots=True)
class _Counter:
    """A locked counter and what the batch adds to it."""

    total: UsageTotal
    metric: UsageMetric
    terms: Terms | None
    units: int = 0
    events: list[EventRow] = field(default_factory=list)

    def has_room(self, quantity: int) -> bool:
        """Whether so much more stays within the hard limit; an event counts whole or not at all."""
        ceiling = self.terms.ceiling if self.terms else None
        taken = self.total.used + self.total.reserved + self.units
        return ceiling is None or quantity == 0 or taken + quantity <= ceiling

    def add(self, event: EventRow) -> None:
        """Count an event."""
        self.units += event.quantity
        self.events.append(event)


def ingest(reports: Sequence[UsageReport], *, now: datetime) -> list[Outcome]:
    """Count a batch; the outcomes stand in the order of the reports.

    Refused events leave nothing behind and do not keep the others of their batch from counting.
    """
    verdicts, events, metrics = _judged(reports, now)
    if events:
        verdicts |= _stored(events, metrics, now)
    outcomes = [
        Outcome(printable(report.event_id), verdicts[i]) for i, report in enumerate(reports)
    ]
    refused = sum(outcome.is_refused for outcome in outcomes)
    extra = {"event_count": len(outcomes), "refused_count": refused}
    logger.info("delivery.usage_ingested", extra=extra)
    usage_figures.count_events(str(outcome.status) for outcome in outcomes)
    return outcomes


Verdicts = dict[int, Acceptance | Refusal]
Metrics = dict[int, UsageMetric]


def _judged(
    reports: Sequence[UsageReport], now: datetime
) -> tuple[Verdicts, dict[int, EventRow], Metrics]:
    """Refusals by place in the batch, and the rows of what may count."""
    metrics = _metrics_of(reports)
    verdicts: Verdicts = {}
    events: dict[int, EventRow] = {}
    zones: dict[str, ZoneInfo] = {}
    for place, report in enumerate(reports):
        metric = metrics.get((report.app_code, report.metric_code))
        judged = _event_of(report, metric, zones, now) if metric else Refusal.UNKNOWN_METRIC
        if isinstance(judged, Refusal):
            verdicts[place] = judged
        else:
            events[place] = judged
    return verdicts, events, {metric.pk: metric for metric in metrics.values()}


def _metrics_of(reports: Sequence[UsageReport]) -> dict[tuple[str, str], UsageMetric]:
    rows = UsageMetric.objects.select_related("app").filter(
        app__code__in={report.app_code for report in reports},
        code__in={report.metric_code for report in reports},
    )
    return {(metric.app.code, metric.code): metric for metric in rows}


def _event_of(
    report: UsageReport, metric: UsageMetric, zones: dict[str, ZoneInfo], now: datetime
) -> EventRow | Refusal:
    if refusal := broken_rule(report):
        return refusal
    app: App = metric.app
    zone = zones.setdefault(app.time_zone, ZoneInfo(app.time_zone))
    occurred_at = report.occurred_at or now
    period = place_in_time(occurred_at, now=now, zone=zone, anchor_day=app.billing_day)
    if isinstance(period, Refusal):
        return period
    return EventRow(
        metric_id=metric.pk,
        event_id=report.event_id,
        digest=report.digest,
        quantity=report.quantity,
        subject=report.subject,
        period=period.first_day,
        day=local_day(occurred_at, zone),
        occurred_at=occurred_at,
        received_at=now,
    )


def _stored(events: dict[int, EventRow], metrics: Metrics, now: datetime) -> Verdicts:
    """Count the rows. The same id in two periods at once can collide; the second look sees it."""
    ids = ensure_totals({(event.metric_id, event.period) for event in events.values()})
    terms = terms_of(metrics.values())

    def store() -> Verdicts:
        return _store(events, metrics, terms, sorted(ids.values()), now)

    try:
        return retry_deadlocks(store)
    except IntegrityError:
        return retry_deadlocks(store)


@transaction.atomic
def _store(
    events: dict[int, EventRow],
    metrics: Metrics,
    terms: dict[int, Terms],
    total_ids: list[int],
    now: datetime,
) -> Verdicts:
    counters: dict[CounterKey, _Counter] = {
        key: _Counter(total, metrics[key[0]], terms.get(key[0]))
        for key, total in lock_totals(total_ids).items()
    }
    digests = _known_digests(events)
    verdicts: Verdicts = {}
    for place, event in events.items():
        counter = counters[event.metric_id, event.period]
        known = digests.get((event.metric_id, event.event_id))
        verdicts[place] = _verdict(event, known, counter)
        if verdicts[place] is Acceptance.ACCEPTED:
            digests[event.metric_id, event.event_id] = event.digest
            counter.add(event)
    _write([counter for counter in counters.values() if counter.events], now)
    return verdicts


def _verdict(event: EventRow, known: str | None, counter: _Counter) -> Acceptance | Refusal:
    if known is not None:
        return Acceptance.DUPLICATE if known == event.digest else Refusal.EVENT_CONFLICT
    return Acceptance.ACCEPTED if counter.has_room(event.quantity) else Refusal.LIMIT_REACHED


def _known_digests(events: dict[int, EventRow]) -> dict[tuple[int, str], str]:
    """The payloads of ids that are counted already."""
    ids: defaultdict[int, set[str]] = defaultdict(set)
    for event in events.values():
        ids[event.metric_id].add(event.event_id)
    known = {}
    for metric_id, wanted in ids.items():
        rows = UsageEvent.objects.filter(metric_id=metric_id, event_id__in=wanted)
        for event_id, digest in rows.values_list("event_id", "digest"):
            known[metric_id, event_id] = digest
    return known


def _write(counters: list[_Counter], now: datetime) -> None:
    """The rows, one UPDATE for each counter in the order of the locks, and due alerts."""
    insert_events([event for counter in counters for event in counter.events])
    for counter in counters:
        UsageTotal.objects.filter(pk=counter.total.pk).update(
            used=F("used") + counter.units, event_count=F("event_count") + len(counter.events)
        )
    counted = [Counted(c.metric, c.total.period, c.total.used + c.units, c.terms) for c in counters]
    raise_alerts(counted, now=now)
