"""Web sessions of people: opened at sign-in, noted when seen, ended by them, a ban or time.

Only a digest of the token is stored, so that a copy of the table opens nothing.
"""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q, QuerySet

from apps.whatsapp_auth import errors
from apps.whatsapp_auth.digests import SESSION_REF_LENGTH, session_digest
from apps.whatsapp_auth.models import GoogleSession, GoogleUser


@dataclass(frozen=True, slots=True)
class OpenedSession:
    """A session with its token, which exists only in this value and in the person's cookie."""

    session: GoogleSession
    token: str


def open_session(user: GoogleUser, *, now: datetime) -> OpenedSession:
    """Start a session for the account; runs in the transaction of the sign-in."""
    token = secrets.token_urlsafe(32)
    session = GoogleSession.objects.create(
        session_token=session_digest(token),
        google_user=user,
        owner_jid=user.owner_jid,
        owner_phone=user.owner_phone,
        email=user.email,
        name=user.name,
        picture_url=user.picture_url,
        expires_at=now + timedelta(days=settings.WEB_SESSION_DAYS),
        last_seen_at=now,
    )
    return OpenedSession(session, token)


def renew_token(session: GoogleSession) -> OpenedSession:
    """Give a living session a new token; the former one stops working."""
    token = secrets.token_urlsafe(32)
    digest = session_digest(token)
    GoogleSession.objects.filter(pk=session.pk).update(session_token=digest)
    session.session_token = digest
    return OpenedSession(session, token)


def living_sessions(*, now: datetime) -> QuerySet[GoogleSession]:
    """Sessions that are neither ended nor expired, the newest first."""
    living = GoogleSession.objects.filter(revoked_at=None, expires_at__gt=now)
    return living.order_by("-created_at", "session_token")


def note_seen(session: GoogleSession, *, now: datetime) -> None:
    """Move the session's and the account's `last_seen_at`, at most once per touch interval."""
    step = timedelta(seconds=settings.WEB_SESSION_TOUCH_SECONDS)
    if session.last_seen_at is not None and now - session.last_seen_at < step:
        return
    GoogleSession.objects.filter(pk=session.pk).update(last_seen_at=now, updated_at=now)
    GoogleUser.objects.filter(pk=session.google_user_id).update(last_seen_at=now, updated_at=now)


def end_sessions(chosen: Q, *, now: datetime) -> int:
    """End the living sessions that match; tells how many."""
    return GoogleSession.objects.filter(chosen, revoked_at=None).update(
        revoked_at=now, updated_at=now
    )


def end_own_session(google_sub: str, ref: str, *, now: datetime) -> None:
    """End one of a person's own sessions, named by its short reference. Raises SessionNotFound."""
    if len(ref) != SESSION_REF_LENGTH or not ref.isalnum():
        raise errors.SessionNotFound
    own = Q(google_user_id=google_sub, session_token__startswith=ref, expires_at__gt=now)
    if not end_sessions(own, now=now):
        raise errors.SessionNotFound


def end_sessions_by_id(digests: Iterable[str], *, now: datetime) -> int:
    """End the sessions of these rows; for operators."""
    return end_sessions(Q(pk__in=list(digests)), now=now)
