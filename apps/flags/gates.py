"""Flags in code: a decorator for views, a permission for endpoints, one subject per request."""

import functools
from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from apps.flags.services import is_enabled

View = Callable[..., HttpResponse]


class FlagSubjectMiddleware:
    """Fix whom flags are evaluated for during a request: a person, a user, or an anonymous visitor.

    The subject is one and the same for every flag of a request, and for every request of a person.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Set `request.flag_subject` and handle the request."""
        request.flag_subject = subject_of(request)  # type: ignore[attr-defined]
        return self.get_response(request)


def subject_of(request: HttpRequest | Request) -> str:
    """The subject key of a request; empty for visitors who are not signed in."""
    user: Any = getattr(request, "user", None)
    owner = getattr(user, "owner_jid", "")
    if owner:
        return str(owner)
    return f"user:{user.pk}" if user is not None and user.is_authenticated else ""


def is_enabled_for(request: HttpRequest, flag_name: str, *, fallback: bool = False) -> bool:
    """Whether whoever makes the request has the feature."""
    subject = getattr(request, "flag_subject", None)
    subject_key = subject_of(request) if subject is None else subject
    return is_enabled(flag_name, subject_key=subject_key, fallback=fallback)


def flag_required(flag_name: str, *, fallback: bool = False) -> Callable[[View], View]:
    """Answer 404 where the feature is off, as if the view were not there."""

    def decorate(view: View) -> View:
        @functools.wraps(view)
        def gated(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not is_enabled_for(request, flag_name, fallback=fallback):
                raise Http404
            return view(request, *args, **kwargs)

        return gated

    return decorate


class FlagPermission(BasePermission):
    """Admits callers that have the feature named by the view's `required_flag`."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Ask the flag for whoever calls, as DRF has come to know them."""
        return is_enabled(view.required_flag, subject_key=subject_of(request))
