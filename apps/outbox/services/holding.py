"""The flag `enable_domain_event_outbox`, decided by one function for publishers and workers.

Switched off for an aggregate, its events are held back: they stay in the table as pending with a
due time that never comes, are counted and shown as held, and are released when the flag is on.
"""

from collections.abc import Sequence

from django.db import transaction

from apps.common.dialects import dialect, execute
from apps.common.fields import now_seconds
from apps.flags.services import is_enabled
from apps.outbox.choices import LeaseStatus
from apps.outbox.events import HELD_UNTIL
from apps.outbox.models import OutboxEvent

OUTBOX_FLAG = "enable_domain_event_outbox"


def is_open(aggregate_type: str, aggregate_id: str) -> bool:
    """Whether events of this aggregate flow."""
    subject = f"{aggregate_type}:{aggregate_id}"
    return is_enabled(OUTBOX_FLAG, subject_key=subject, fallback=True)


def hold_reason(event: OutboxEvent) -> str:
    """Why an event waits, for operators; empty when it does not."""
    return OUTBOX_FLAG if event.available_at == HELD_UNTIL else ""


def hold_back(ids: Sequence[int]) -> None:
    """Hold pending events that a worker met while their aggregate was switched off."""
    pending = OutboxEvent.objects.filter(pk__in=ids, status=LeaseStatus.PENDING)
    pending.update(available_at=HELD_UNTIL, updated_at=now_seconds())


@transaction.atomic
def release_held() -> int:
    """Make held events of open aggregates due now; tells how many.

    Aggregates that are still switched off stay held: the decision is made for each.
    """
    held = OutboxEvent.objects.filter(status=LeaseStatus.PENDING, available_at=HELD_UNTIL)
    open_ids = [
        pk
        for pk, kind, key in held.values_list("pk", "aggregate_type", "aggregate_id").iterator()
        if is_open(kind, key)
    ]
    for start in range(0, len(open_ids), 500):
        chunk = open_ids[start : start + 500]
        execute(
            f"UPDATE domain_event_outbox SET available_at = {dialect().now}"  # noqa: S608
            f" WHERE status = 'pending' AND id IN ({', '.join(['%s'] * len(chunk))})",
            chunk,
        )
    return len(open_ids)
