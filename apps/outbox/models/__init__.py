"""All tables of the outbox."""

from apps.outbox.models.mirrored import OutboxDeadLetter, OutboxEvent
from apps.outbox.models.webhooks import WebhookAttempt, WebhookSubscription
from apps.outbox.models.work import (
    DrainSlot,
    FailedAttempt,
    HandlerState,
    HandlerTiming,
    PausedType,
    RedriveLog,
)

__all__ = [
    "DrainSlot",
    "FailedAttempt",
    "HandlerState",
    "HandlerTiming",
    "OutboxDeadLetter",
    "OutboxEvent",
    "PausedType",
    "RedriveLog",
    "WebhookAttempt",
    "WebhookSubscription",
]
