"""Notices to people: shown until they put them away."""

from datetime import datetime

from apps.whatsapp_auth.queries import unseen_notices


def mark_seen(google_sub: str, *, now: datetime) -> int:
    """Put away what the person has been shown; tells how many."""
    return unseen_notices(google_sub).update(seen_at=now)
