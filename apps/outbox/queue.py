"""The outbox as a leased queue."""

from apps.common.leased_queue import LeasedQueue
from apps.outbox.models import OutboxDeadLetter, OutboxEvent

EVENT_QUEUE = LeasedQueue(
    model=OutboxEvent,
    due="available_at",
    columns=("event_type", "aggregate_type", "aggregate_id", "payload", "created_at"),
    dead_letter=OutboxDeadLetter,
    copied={
        "outbox_event_id": "pk",
        "event_type": "event_type",
        "aggregate_type": "aggregate_type",
        "aggregate_id": "aggregate_id",
        "payload": "payload",
        "attempts": "attempts",
        "max_attempts": "max_attempts",
        "last_error": "last_error",
    },
)
