"""What operators and metrics ask of the outbox."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count
from django.utils.translation import gettext

from apps.common.dialects import dialect, fetch
from apps.outbox.choices import LeaseStatus
from apps.outbox.events import HELD_UNTIL
from apps.outbox.models import FailedAttempt, OutboxEvent, PausedType, RedriveLog

HELD = "held"
OPEN_STATES = (LeaseStatus.PENDING, LeaseStatus.PROCESSING, LeaseStatus.FAILED)


@dataclass(frozen=True, slots=True)
class DepthRow:
    """How many events of a type are in a state; held ones count apart from pending ones."""

    event_type: str
    status: str
    count: int


def depth_by_type() -> Sequence[DepthRow]:
    """Open events by type and state; completed ones are history and not counted here."""
    rows = OutboxEvent.objects.filter(status__in=OPEN_STATES).exclude(available_at=HELD_UNTIL)
    counted = rows.values_list("event_type", "status").annotate(count=Count("pk")).order_by()
    held = (
        OutboxEvent.objects.filter(status=LeaseStatus.PENDING, available_at=HELD_UNTIL)
        .values_list("event_type")
        .annotate(count=Count("pk"))
        .order_by()
    )
    return [
        *(DepthRow(*row) for row in counted),
        *(DepthRow(event_type, HELD, count) for event_type, count in held),
    ]


def oldest_due_seconds() -> float:
    """How long the oldest due event has waited; 0 when none is due. By the database's clock."""
    age = dialect().age.format(column="MIN(available_at)")
    rows = fetch(
        f"SELECT {age} FROM domain_event_outbox WHERE status = 'pending'"  # noqa: S608
        f" AND available_at <= {dialect().now}",
        [],
    )
    return max(0.0, float(rows[0][0] or 0))


def paused_types() -> list[str]:
    """The types that workers leave alone."""
    return list(PausedType.objects.order_by("pk").values_list("pk", flat=True))


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """One thing that happened to an event: a failed attempt, its death, or a decision about it."""

    at: datetime
    what: str
    who: str
    text: str


def timeline(event: OutboxEvent) -> Sequence[TimelineEntry]:
    """What happened to an event since it was published, oldest first."""
    entries = []
    for attempt in FailedAttempt.objects.filter(event_id=event.pk):
        what = gettext("attempt %(number)d failed") % {"number": attempt.attempt}
        entries.append(TimelineEntry(attempt.failed_at, what, attempt.handler, attempt.error))
    for entry in RedriveLog.objects.filter(event_id=event.pk).order_by("pk"):
        what = entry.get_action_display()
        entries.append(TimelineEntry(entry.created_at, what, entry.actor, entry.reason))
    entries.sort(key=lambda entry: entry.at)
    # The columns have whole seconds: where the first and the last entry belong is known without.
    entries.insert(0, TimelineEntry(event.created_at, gettext("published"), "", ""))
    if event.processed_at is not None:
        what = event.get_status_display()
        entries.append(TimelineEntry(event.processed_at, what, "", event.last_error or ""))
    return entries


def dead_event_ids(
    *, ids: Sequence[int] = (), event_type: str | None = None, aggregate_id: str | None = None
) -> list[int]:
    """Dead events by id, type or aggregate, in id order."""
    dead = OutboxEvent.objects.filter(status=LeaseStatus.FAILED)
    if ids:
        dead = dead.filter(pk__in=ids)
    if event_type:
        dead = dead.filter(event_type=event_type)
    if aggregate_id:
        dead = dead.filter(aggregate_id=aggregate_id)
    return list(dead.order_by("pk").values_list("pk", flat=True))
