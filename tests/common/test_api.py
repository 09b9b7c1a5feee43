"""Refusals keep one shape, whatever raised them."""

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from rest_framework import exceptions

from apps.common import errors
from apps.common.api import answer_error


class PackFull(errors.LimitReached):
    """An example of a case."""

    code = "pack_full"


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (errors.InvalidInput, 400),
        (errors.NotFound, 404),
        (errors.Forbidden, 403),
        (errors.Conflict, 409),
        (errors.LimitReached, 429),
        (errors.Unavailable, 503),
    ],
)
def test_each_kind_has_its_status(kind: type[errors.DomainError], status: int) -> None:
    response = answer_error(kind("why"), {})
    assert response is not None
    assert response.status_code == status


def test_a_case_answers_with_its_code_message_and_details() -> None:
    response = answer_error(PackFull("The pack is full.", details={"limit": 30}), {})
    assert response is not None
    assert response.data == {
        "error": {"code": "pack_full", "message": "The pack is full.", "details": {"limit": 30}}
    }


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (exceptions.ValidationError({"name": ["Too long."]}), 400, "invalid_input"),
        (ValidationError("Too late."), 400, "invalid_input"),
        (exceptions.NotAuthenticated(), 401, "not_authenticated"),
        (exceptions.Throttled(wait=3), 429, "throttled"),
    ],
)
def test_framework_errors_take_the_same_shape(error: Exception, status: int, code: str) -> None:
    response: Any = answer_error(error, {})
    assert response.status_code == status
    assert response.data["error"]["code"] == code
    assert set(response.data["error"]) == {"code", "message", "details"}


def test_an_unexpected_error_is_not_dressed_up() -> None:
    assert answer_error(RuntimeError("a bug"), {}) is None
