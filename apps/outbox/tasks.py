"""Entry points of the runner."""

from django.conf import settings

from apps.outbox.services import prune, release_held, residency


def drain(slot: str = "1") -> None:
    """Stay for up to 50 s handling events, then hand over; at once when the slot is taken."""
    residency.reside(slot)


def prune_completed() -> None:
    """Every hour: delete completed events past their retention."""
    prune(older_than_seconds=settings.OUTBOX_RETENTION_DAYS * 86_400)


def release_held_events() -> None:
    """Every minute: let held events go whose aggregates are switched on again."""
    release_held()
