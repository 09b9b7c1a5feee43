"""Entry points of the runner."""

from django.conf import settings
from django.utils import timezone

from apps.outbox.services import (
    attempts,
    prune,
    release_held,
    residency,
    timings,
    webhook_delivery,
)


def drain(slot: str = "1") -> None:
    """Stay for up to 50 s handling events, then hand over; at once when the slot is taken."""
    residency.reside(slot)


def prune_completed() -> None:
    """Every hour: delete completed events, attempts and timings past their retention."""
    prune(older_than_seconds=settings.OUTBOX_RETENTION_DAYS * 86_400)
    attempts.forget(older_than_days=settings.OUTBOX_RETENTION_DAYS)
    timings.forget_old()
    webhook_delivery.prune_attempts(older_than_days=settings.WEBHOOK_LOG_DAYS, now=timezone.now())


def release_held_events() -> None:
    """Every minute: let held events go whose aggregates are switched on again."""
    release_held()
