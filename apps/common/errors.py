"""The root of every error that Pombo raises on purpose; no Django, no HTTP.

An app's `errors.py` has one class per case, each below one of the kinds drawn here. The kind says
what the caller can do about it; only `apps.common.api` turns it into an HTTP status.

    DomainError
    ├── InvalidInput      the request itself is wrong; sending it again changes nothing
    ├── NotFound          what it names does not exist
    ├── Forbidden         it exists, but not for this caller
    ├── Conflict          it does not fit the present state
    ├── LimitReached      a quota or rate is used up
    └── Unavailable       something we depend on does not answer; try again later
"""

from collections.abc import Mapping
from typing import Any, ClassVar


class DomainError(Exception):
    """A refusal that the caller can understand.

    `code` is stable and machine-readable, `message` is for people, `details` holds values that
    help to mend the request (never secrets or personal data).
    """

    code: ClassVar[str] = "domain_error"

    def __init__(self, message: str, *, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details = dict(details or {})


class InvalidInput(DomainError):
    """The request itself is wrong; sending it again changes nothing."""

    code = "invalid_input"


class NotFound(DomainError):
    """What the request names does not exist."""

    code = "not_found"


class Forbidden(DomainError):
    """It exists, but not for this caller."""

    code = "forbidden"


class Conflict(DomainError):
    """The request does not fit the present state."""

    code = "conflict"


class LimitReached(DomainError):
    """A quota or rate is used up."""

    code = "limit_reached"


class Unavailable(DomainError):
    """Something we depend on does not answer; try again later."""

    code = "unavailable"
