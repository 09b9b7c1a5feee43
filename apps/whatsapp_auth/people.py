"""Who is looking at a page or calling the API with a web session: the cookie's side of sign-in."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from apps.whatsapp_auth import queries
from apps.whatsapp_auth.digests import SESSION_REF_LENGTH, session_digest
from apps.whatsapp_auth.errors import SessionCheckUnavailable
from apps.whatsapp_auth.models import GoogleSession
from apps.whatsapp_auth.services import sessions

MAX_TOKEN_LENGTH = 128


@dataclass(frozen=True, slots=True)
class Person:
    """A person signed in on the web pages: an account, its owner address and the session used.

    Stands where DRF expects a user, without any staff permission.
    """

    google_sub: str
    owner_jid: str
    owner_phone: str
    email: str
    name: str
    session_ref: str
    expires_at: datetime
    last_seen_at: datetime | None = None
    is_authenticated: bool = True
    is_active: bool = True
    is_staff: bool = False

    @property
    def pk(self) -> str:
        """What rate limits count by."""
        return f"person:{self.google_sub}"

    def get_username(self) -> str:
        """The name in logs: it does not tell who it is."""
        return f"person:{self.session_ref}"

    def has_perm(self, permission: str, subject: Any = None) -> bool:
        """People hold no staff permissions."""
        return False


def person_of(request: HttpRequest) -> Person | None:
    """The person behind the request's cookie, or None. Asked once per request.

    Raises SessionCheckUnavailable when the database does not answer: the session is then neither
    believed nor ended.
    """
    if not hasattr(request, "_pombo_person"):
        token = request.COOKIES.get(settings.WEB_SESSION_COOKIE_NAME, "")
        request._pombo_person = _person_for(token, now=timezone.now())  # type: ignore[attr-defined]  # noqa: SLF001 (our own name)
    person: Person | None = request._pombo_person  # type: ignore[attr-defined]  # noqa: SLF001
    return person


def person_from_session(session: GoogleSession) -> Person:
    """The person of a session row."""
    return Person(
        google_sub=session.google_user_id,
        owner_jid=session.owner_jid,
        owner_phone=session.owner_phone or "",
        email=session.email or "",
        name=session.name or "",
        session_ref=session.session_token[:SESSION_REF_LENGTH],
        expires_at=session.expires_at,
        last_seen_at=session.last_seen_at,
    )


def set_session_cookie(response: HttpResponse, opened: sessions.OpenedSession) -> None:
    """Give the browser the token: no script reads it, no other site sends it along."""
    response.set_cookie(
        settings.WEB_SESSION_COOKIE_NAME,
        opened.token,
        max_age=settings.WEB_SESSION_DAYS * 86_400,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def clear_session_cookie(response: HttpResponse) -> None:
    """Make the browser forget the token."""
    response.delete_cookie(settings.WEB_SESSION_COOKIE_NAME, samesite="Lax")


def client_address(request: HttpRequest) -> str:
    """The network address of the caller; behind our own proxy, the one that the proxy saw."""
    forwarded = request.headers.get("X-Forwarded-For", "") if settings.TRUST_PROXY_HEADER else ""
    last_hop = forwarded.rpartition(",")[2].strip()
    return last_hop or str(request.META.get("REMOTE_ADDR", ""))


def ended_account(request: HttpRequest) -> str:
    """The account of an ended session whose cookie the browser still has, or ''.

    Only used to tell its holder what happened; it opens nothing.
    """
    token = request.COOKIES.get(settings.WEB_SESSION_COOKIE_NAME, "")
    if not token:
        return ""
    ended = GoogleSession.objects.filter(pk=session_digest(token), revoked_at__isnull=False)
    return ended.values_list("google_user_id", flat=True).first() or ""


def _person_for(token: str, *, now: datetime) -> Person | None:
    if not token or len(token) > MAX_TOKEN_LENGTH:
        return None
    try:
        session = sessions.living_sessions(now=now).filter(pk=session_digest(token)).first()
        if session is None or _is_banned(session):
            return None
        sessions.note_seen(session, now=now)
    except DatabaseError as error:
        raise SessionCheckUnavailable from error
    return person_from_session(session)


def _is_banned(session: GoogleSession) -> bool:
    ban = queries.active_ban(
        google_sub=session.google_user_id, email=session.email, owner_jid=session.owner_jid
    )
    return ban is not None
