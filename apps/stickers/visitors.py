"""Who visits: a person, the browser behind a signed cookie, a token's client, or an address.

Nobody can name another visitor: the cookie is signed and out of reach of scripts, and only a token
with the scope `packs:engage` may say for whom it acts (`X-Viewer-Key`), within its own names.
"""

import re
import secrets
from dataclasses import dataclass

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse

from apps.common.scopes import Scope
from apps.stickers.actors import actor_key, is_robot
from apps.whatsapp_auth.models import ApiToken
from apps.whatsapp_auth.people import client_address

COOKIE = "pombo_viewer"
COOKIE_SECONDS = 365 * 86_400
SALT = "pombo.viewer.v1"
MAX_NAME_LENGTH = 100
_FOREIGN = re.compile(r"[^A-Za-z0-9._:@-]")


@dataclass(frozen=True, slots=True)
class Visitor:
    """Whoever makes a request, as events keep it."""

    actor_key: str
    address_key: str
    source: str
    is_robot: bool


def visitor_of(
    request: HttpRequest, *, owner_jid: str = "", token: ApiToken | None = None
) -> Visitor:
    """The visitor of a request, signed in as `owner_jid` or holding a token where these are given.

    A token's client is no robot in this sense: it acts for people of its own.
    """
    address = client_address(request)
    identity = owner_jid or _token_identity(request, token) or _cookie_identity(request) or address
    source = _FOREIGN.sub("", request.headers.get("X-Client-Source", ""))[:32] or "web"
    return Visitor(
        actor_key=actor_key(identity, secret=settings.SECRET_KEY),
        address_key="" if token else actor_key(f"address:{address}", secret=settings.SECRET_KEY),
        source=source,
        is_robot=token is None and is_robot(request.headers.get("User-Agent", "")),
    )


def remember_visitor(request: HttpRequest, response: HttpResponse) -> None:
    """Give a browser its signed cookie, unless it has one; only pages do, never the API."""
    if _cookie_identity(request):
        return
    response.set_cookie(
        COOKIE,
        signing.TimestampSigner(salt=SALT).sign(secrets.token_urlsafe(16)),
        max_age=COOKIE_SECONDS,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _cookie_identity(request: HttpRequest) -> str:
    """The name in the cookie; '' without one, or for one that was not signed here."""
    try:
        signed = request.COOKIES.get(COOKIE, "")
        return "viewer:" + signing.TimestampSigner(salt=SALT).unsign(signed, max_age=COOKIE_SECONDS)
    except signing.BadSignature:
        return ""


def _token_identity(request: HttpRequest, token: ApiToken | None) -> str:
    if token is None:
        return ""
    name = _FOREIGN.sub("", request.headers.get("X-Viewer-Key", ""))[:MAX_NAME_LENGTH]
    may_name = Scope.PACKS_ENGAGE in token.scopes
    return f"token:{token.pk}:{name if may_name else ''}"
