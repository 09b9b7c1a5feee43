"""The figures of the operator's dashboard, read from the tables: no worker has to answer."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Max, Q

from apps.outbox.choices import LeaseStatus
from apps.outbox.models import OutboxEvent
from apps.outbox.queries import DepthRow, depth_by_type, oldest_due_seconds, paused_types

THROUGHPUT_MINUTES = 5
# Completed events are found by the time they fell due, which has an index.
DUE_WITHIN = timedelta(hours=24)
SAMPLE_SIZE = 1000
MEDIAN, HIGH = 0.5, 0.95


@dataclass(frozen=True, slots=True)
class LatencyRow:
    """How long events of a type took from publishing to completion, in whole seconds."""

    event_type: str
    count: int
    median_seconds: float
    p95_seconds: float


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
    oldest_due_seconds: float
    depth: Sequence[DepthRow]
    latency: Sequence[LatencyRow]
    failing: Sequence[FailingRow]
    paused: Sequence[str]


def dashboard(*, now: datetime) -> Dashboard:
    """The present figures, in a number of queries that does not depend on the rows."""
    return Dashboard(
        per_minute=_completed_per_minute(now),
        oldest_due_seconds=oldest_due_seconds(),
        depth=depth_by_type(),
        latency=_latency(),
        failing=_failing(),
        paused=paused_types(),
    )


def percentile(ordered: Sequence[float], share: float) -> float:
    """The value below which that share of an ordered, non-empty sequence lies (nearest rank)."""
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def _completed_per_minute(now: datetime) -> float:
    recent = OutboxEvent.objects.filter(
        status=LeaseStatus.COMPLETED,
        available_at__gte=now - DUE_WITHIN,
        processed_at__gte=now - timedelta(minutes=THROUGHPUT_MINUTES),
    )
    return recent.count() / THROUGHPUT_MINUTES


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
