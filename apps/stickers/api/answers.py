"""JSON answers that carry an ETag, so that who holds one is told that nothing changed."""

import hashlib
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response, patch_cache_control
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request


def rendered(data: Any) -> bytes:
    """The bytes of an answer."""
    return bytes(JSONRenderer().render(data))


def conditional(request: Request, body: bytes, *, is_public: bool = True) -> HttpResponse:
    """The answer, or 304 for a caller that holds it. Caches may keep it but ask each time."""
    etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    response = HttpResponse(body, content_type="application/json")
    response["ETag"] = etag
    patch_cache_control(response, no_cache=True, **({} if is_public else {"private": True}))
    plain: HttpRequest = request._request  # noqa: SLF001 (the Django request below DRF's)
    return get_conditional_response(plain, etag=etag, response=response) or response
