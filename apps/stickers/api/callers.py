"""Who calls the API, as the services of the sticker service want to know it."""

from django.http import HttpRequest
from rest_framework.request import Request

from apps.stickers.visitors import Visitor, visitor_of
from apps.whatsapp_auth.models import ApiToken


def owner_behind(request: Request) -> str:
    """The owner that a signed-in person acts as; '' for tokens, staff and visitors."""
    return str(getattr(request.user, "owner_jid", "") or "")


def visitor_behind(request: Request) -> Visitor:
    """The visitor behind a call."""
    token = request.auth if isinstance(request.auth, ApiToken) else None
    plain: HttpRequest = request._request  # noqa: SLF001 (the Django request below DRF's)
    return visitor_of(plain, owner_jid=owner_behind(request), token=token)
