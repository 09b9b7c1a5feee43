"""Events that are held back: the flag `enable_domain_event_outbox` is off, or their type pauses.

A held event stays in the table as pending with a due time that never comes, is counted and shown as
held, and is released when nothing holds it any more. So claims never step over held events, however
many there are.
"""

from collections.abc import Collection, Sequence

from apps.common.dialects import dialect, execute
from apps.common.fields import now_seconds
from apps.flags.services import is_enabled
from apps.outbox.choices import LeaseStatus
from apps.outbox.events import HELD_UNTIL
from apps.outbox.models import OutboxEvent
from apps.outbox.queries import paused_types

OUTBOX_FLAG = "enable_domain_event_outbox"
RELEASE_BATCH = 500


def is_open(aggregate_type: str, aggregate_id: str) -> bool:
    """Whether the flag lets the aggregate's events flow; publishers and workers ask here."""
    subject = f"{aggregate_type}:{aggregate_id}"
    return is_enabled(OUTBOX_FLAG, subject_key=subject, fallback=True)


def hold_reason(event: OutboxEvent, paused: Collection[str]) -> str:
    """What holds an event back, for operators; empty when nothing does."""
    if event.available_at != HELD_UNTIL:
        return ""
    return "paused" if event.event_type in paused else OUTBOX_FLAG


def hold_back(ids: Sequence[int]) -> None:
    """Hold pending events that a worker met while their type paused or their flag was off."""
    pending = OutboxEvent.objects.filter(pk__in=ids, status=LeaseStatus.PENDING)
    pending.update(available_at=HELD_UNTIL, updated_at=now_seconds())


def release_held(*, event_type: str | None = None, limit: int | None = None) -> int:
    """Make held events due now that nothing holds any more, in id order; tells how many.

    Aggregates that are still switched off and types that still pause stay held. Each batch is a
    transaction of its own, so that a million of them block nobody.
    """
    held = OutboxEvent.objects.filter(status=LeaseStatus.PENDING, available_at=HELD_UNTIL)
    if event_type is not None:
        held = held.filter(event_type=event_type)
    rows = held.exclude(event_type__in=paused_types()).order_by("pk")
    columns = rows.values_list("pk", "aggregate_type", "aggregate_id")[:limit]
    open_ids = [pk for pk, kind, key in columns.iterator() if is_open(kind, key)]
    for start in range(0, len(open_ids), RELEASE_BATCH):
        chunk = open_ids[start : start + RELEASE_BATCH]
        execute(
            f"UPDATE domain_event_outbox SET available_at = {dialect().now}"  # noqa: S608
            f" WHERE status = 'pending' AND id IN ({', '.join(['%s'] * len(chunk))})",
            chunk,
        )
    return len(open_ids)
