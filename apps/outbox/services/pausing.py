"""Pausing and resuming an event type while workers run."""

from apps.outbox.models import PausedType
from apps.outbox.services.holding import RELEASE_BATCH, release_held


def pause_type(event_type: str, *, actor: str, reason: str) -> PausedType:
    """Hold events of this type from the next claim on; pausing twice keeps the first."""
    paused, _created = PausedType.objects.get_or_create(
        event_type=event_type, defaults={"paused_by": actor, "reason": reason}
    )
    return paused


def resume_type(event_type: str) -> bool:
    """Take the type up again; tells whether it was paused.

    The first held events go at once, the others within a minute by the worker.
    """
    was_paused = PausedType.objects.filter(event_type=event_type).delete()[0] > 0
    if was_paused:
        release_held(event_type=event_type, limit=RELEASE_BATCH)
    return was_paused
