"""Pausing and resuming an event type while workers run."""

from apps.outbox.models import PausedType


def pause_type(event_type: str, *, actor: str, reason: str) -> PausedType:
    """Leave events of this type alone from the next claim on; pausing twice keeps the first."""
    paused, _created = PausedType.objects.get_or_create(
        event_type=event_type, defaults={"paused_by": actor, "reason": reason}
    )
    return paused


def resume_type(event_type: str) -> bool:
    """Take the type up again; tells whether it was paused."""
    return PausedType.objects.filter(event_type=event_type).delete()[0] > 0
