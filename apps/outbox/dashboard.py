"""The figures of the operator's dashboard, read from the tables: no worker has to answer."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Max, Q

from apps.outbox.choices import LeaseStatus
from apps.outbox.histograms import COMPLETED, quantile
from apps.outbox.models import HandlerTiming, OutboxEvent
from apps.outbox.queries import DepthRow, depth_by_type, oldest_due_seconds, paused_types

SHOWN_MINUTES = 30
RATE_MINUTES = 5
SAMPLE_SIZE = 1000
MEDIAN, HIGH, HIGHEST = 0.5, 0.95, 0.99


@dataclass(frozen=True, slots=True)
class LatencyRow:
    """How long events of a type took from publishing to completion, in whole seconds."""

    event_type: str
    count: int
    median_seconds: float
    p95_seconds: float


@dataclass(frozen=True, slots=True)
class HandlerRow:
    """How long calls of a handler took in the last half hour, over all workers, in milliseconds."""

    handler: str
    calls: int
    median_ms: float
    p95_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True)
class MinuteRow:
    """How many events completed in a minute, and that as a share of the busiest, in percent."""

    minute: datetime
    count: int
    percent: int


@dataclass(frozen=True, slots=True)
class FailingRow:
    """A type with events that failed and are open, and the latest of their errors."""

    event_type: str
    retrying: int
    dead: int
    last_error: str


@dataclass(frozen=True, slots=True)
class Dashboard:
    """Everything the page shows."""

    per_minute: float
    minutes: Sequence[MinuteRow]
    oldest_due_seconds: float
    depth: Sequence[DepthRow]
    latency: Sequence[LatencyRow]
    handlers: Sequence[HandlerRow]
    failing: Sequence[FailingRow]
    paused: Sequence[str]


def dashboard(*, now: datetime) -> Dashboard:
    """The present figures, in a number of queries that does not depend on the rows."""
    notes = _notes(now)
    minutes = _minutes(notes.pop(COMPLETED, []), now)
    return Dashboard(
        per_minute=sum(row.count for row in minutes[-RATE_MINUTES:]) / RATE_MINUTES,
        minutes=minutes,
        oldest_due_seconds=oldest_due_seconds(),
        depth=depth_by_type(),
        latency=_latency(),
        handlers=[_handler_row(name, notes[name]) for name in sorted(notes)],
        failing=_failing(),
        paused=paused_types(),
    )


def percentile(ordered: Sequence[float], share: float) -> float:
    """The value below which that share of an ordered, non-empty sequence lies (nearest rank)."""
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def _notes(now: datetime) -> dict[str, list[HandlerTiming]]:
    """What all workers noted in the last half hour, by handler."""
    since = now - timedelta(minutes=SHOWN_MINUTES)
    notes: dict[str, list[HandlerTiming]] = defaultdict(list)
    for note in HandlerTiming.objects.filter(noted_at__gte=since):
        notes[note.handler].append(note)
    return notes


def _minutes(notes: Sequence[HandlerTiming], now: datetime) -> list[MinuteRow]:
    """The last half hour, also the minutes in which nothing completed; the present one is last."""
    counts: dict[int, int] = defaultdict(int)
    for note in notes:
        counts[int((now - note.noted_at).total_seconds() // 60)] += note.calls
    busiest = max(counts.values(), default=0) or 1
    return [
        MinuteRow(now - timedelta(minutes=ago), counts[ago], round(100 * counts[ago] / busiest))
        for ago in reversed(range(SHOWN_MINUTES))
    ]


def _handler_row(name: str, notes: Sequence[HandlerTiming]) -> HandlerRow:
    buckets = [sum(column) for column in zip(*(note.buckets for note in notes), strict=True)]
    median, high, highest = (1000 * quantile(buckets, s) for s in (MEDIAN, HIGH, HIGHEST))
    return HandlerRow(name, sum(buckets), median, high, highest)


def _latency() -> list[LatencyRow]:
    """Of the newest completed events."""
    newest = OutboxEvent.objects.filter(status=LeaseStatus.COMPLETED).order_by("-pk")
    waits: dict[str, list[float]] = defaultdict(list)
    columns = newest.values_list("event_type", "created_at", "processed_at")
    for event_type, created_at, processed_at in columns[:SAMPLE_SIZE]:
        if processed_at is not None:
            waits[event_type].append((processed_at - created_at).total_seconds())
    return [
        LatencyRow(name, len(taken), percentile(taken, MEDIAN), percentile(taken, HIGH))
        for name, taken in ((name, sorted(waits[name])) for name in sorted(waits))
    ]


def _failing() -> list[FailingRow]:
    retrying = Q(status=LeaseStatus.PENDING, last_error__isnull=False)
    dead = Q(status=LeaseStatus.FAILED)
    open_events = OutboxEvent.objects.filter(status__in=[LeaseStatus.PENDING, LeaseStatus.FAILED])
    counted = (
        open_events.filter(retrying | dead)
        .values("event_type")
        .annotate(
            retrying=Count("pk", filter=retrying),
            dead=Count("pk", filter=dead),
            last_error=Max("last_error"),
        )
        .order_by("event_type")
    )
    return [
        FailingRow(row["event_type"], row["retrying"], row["dead"], row["last_error"] or "")
        for row in counted
    ]
