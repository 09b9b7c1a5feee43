"""What all API endpoints share: how lists are paged and how errors are answered.

Who may call an endpoint is said by `apps.common.access`.
"""

from http import HTTPStatus
from typing import Any

from django.core.exceptions import ValidationError as DjangoValidationError
from rest_framework import exceptions
from rest_framework.pagination import PageNumberPagination
from rest_framework.response import Response
from rest_framework.views import exception_handler

from apps.common import errors

STATUS_OF_KIND: tuple[tuple[type[errors.DomainError], HTTPStatus], ...] = (
    (errors.InvalidInput, HTTPStatus.BAD_REQUEST),
    (errors.NotFound, HTTPStatus.NOT_FOUND),
    (errors.Forbidden, HTTPStatus.FORBIDDEN),
    (errors.Conflict, HTTPStatus.CONFLICT),
    (errors.LimitReached, HTTPStatus.TOO_MANY_REQUESTS),
    (errors.Unavailable, HTTPStatus.SERVICE_UNAVAILABLE),
)


class Pages(PageNumberPagination):
    """Numbered pages for short lists; long ones use keyset cursors of their own."""

    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200


def problem(code: str, message: str, details: Any = None) -> dict[str, Any]:
    """The one shape of every error answer."""
    return {"error": {"code": code, "message": message, "details": details or {}}}


def status_of(error: errors.DomainError) -> HTTPStatus:
    """The HTTP status for a kind of refusal."""
    return next(
        (status for kind, status in STATUS_OF_KIND if isinstance(error, kind)),
        HTTPStatus.BAD_REQUEST,
    )


def answer_error(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler: domain errors by kind, DRF's own in the same shape."""
    if isinstance(error, errors.DomainError):
        return Response(problem(error.code, error.message, error.details), status=status_of(error))
    if isinstance(error, DjangoValidationError):
        error = exceptions.ValidationError(error.messages)
    response = exception_handler(error, context)
    if response is None:
        return None
    if isinstance(error, exceptions.ValidationError):
        response.data = problem("invalid_input", "Some fields are not valid.", error.detail)
    elif isinstance(error, exceptions.APIException):
        code = error.get_codes()
        response.data = problem(str(code), str(error.detail))
    else:
        response.data = problem("not_found", "There is nothing here.")
    return response
