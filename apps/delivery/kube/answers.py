"""How an answer of the API server is read: which error it is, and whether to ask again; pure.

The rules come from recordings of Kubernetes 1.36: apply answers 500 both for passing trouble and
for objects that do not fit the schema, and 409 both for a stale version and for an owned field.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from apps.common.errors import DomainError

from . import errors

_FINAL_500 = (
    "failed to create typed patch object",
    "failed to convert new object",
    "strconv.",
)
_PASSING_STATUSES = frozenset({429, 500, 502, 503, 504})
_MANAGER = re.compile(r'^conflict with "([^"]*)"')


@dataclass(frozen=True, slots=True)
class Answer:
    """A refusal: status code, and what its Status body says."""

    status: int
    message: str = ""
    reason: str = ""
    causes: tuple[Mapping[str, Any], ...] = ()
    retry_after_seconds: float | None = None


def read_answer(status: int, body: Any, retry_after: str | None) -> Answer:
    """The refusal in a body; text bodies count as its message."""
    seconds = float(retry_after) if retry_after and retry_after.isdigit() else None
    if not isinstance(body, Mapping):
        return Answer(status, str(body).strip()[:500], retry_after_seconds=seconds)
    causes = (body.get("details") or {}).get("causes") or ()
    return Answer(status, body.get("message", ""), body.get("reason", ""), tuple(causes), seconds)


def is_passing(answer: Answer) -> bool:
    """Whether the same request may succeed in a moment.

    Eviction refused by a disruption budget is a 429 without Retry-After that lasts; it is never
    sent by Pombo.
    """
    if answer.status == HTTPStatus.INTERNAL_SERVER_ERROR and answer.message.startswith(_FINAL_500):
        return False
    return answer.status in _PASSING_STATUSES or is_stale(answer)


def is_stale(answer: Answer) -> bool:
    """Whether the object changed between the server's own read and write."""
    return answer.status == HTTPStatus.CONFLICT and "the object has been modified" in answer.message


def error_for(answer: Answer) -> DomainError:
    """The error class for a refusal that stays."""
    message = answer.message or f"The cluster answered {answer.status}."
    match answer.status:
        case 401:
            return errors.AccessDenied(message)
        case 403:
            is_right = " cannot " in message and "User " in message
            return errors.AccessDenied(message) if is_right else errors.AdmissionDenied(message)
        case 404:
            return errors.ObjectMissing(message)
        case 409:
            return _conflict(answer, message)
        case 410:
            return errors.VersionExpired(message)
    if is_passing(answer):
        return errors.ClusterUnreachable(message)
    causes = [{"field": c.get("field"), "message": c.get("message")} for c in answer.causes]
    return errors.ObjectRefused(message, details={"causes": causes})


def _conflict(answer: Answer, message: str) -> DomainError:
    owned = [c for c in answer.causes if c.get("reason") == "FieldManagerConflict"]
    if owned:
        return errors.FieldConflict(message, [_owned_field(cause) for cause in owned])
    if answer.reason == "AlreadyExists":
        return errors.ObjectExists(message)
    return errors.ObjectChanged(message)


def _owned_field(cause: Mapping[str, Any]) -> errors.OwnedField:
    found = _MANAGER.match(cause.get("message", ""))
    return errors.OwnedField(found[1] if found else "", cause.get("field", ""))
