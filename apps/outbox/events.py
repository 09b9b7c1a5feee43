"""What an event is, and how the words of a publisher become one. No Django.

Source of the normalisation: the event bus of OmniZap 2.2.5; the rule for keys that normalising
would change is Pombo's own, so that two different keys never become one.
"""

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from apps.common.parsing import js_number, js_trim

MAX_TYPE_LENGTH = 96
MAX_AGGREGATE_ID_LENGTH = 128
MAX_KEY_LENGTH = 180
KEPT_KEY_LENGTH = 163
KEY_DIGEST_LENGTH = 16
DEFAULT_PRIORITY, LOWEST_PRIORITY, HIGHEST_PRIORITY = 50, 1, 100
DEFAULT_MAX_ATTEMPTS, MOST_ATTEMPTS = 10, 30
# The last second that TIMESTAMP columns are used for: no worker ever finds it due.
HELD_UNTIL = datetime(2038, 1, 18, 23, 59, 59, tzinfo=UTC)

_NOT_IN_TYPE = re.compile(r"[^A-Z0-9_]")
_NOT_IN_AGGREGATE_TYPE = re.compile(r"[^a-z0-9_:-]")
_NOT_IN_KEY = re.compile(r"[^A-Za-z0-9_:-]")


@dataclass(frozen=True, slots=True)
class Trace:
    """The chain of work an event belongs to, and the event that caused it (0: none did)."""

    correlation_id: str = ""
    causation_id: int = 0


NO_TRACE = Trace()


@dataclass(frozen=True, slots=True)
class Event:
    """An event as a handler sees it.

    `attempts` counts this run too. `is_redrive` tells that an operator sent it back from the dead
    letters, so that later events of its aggregate may have been handled before it.
    """

    id: int
    event_type: str
    aggregate_type: str
    aggregate_id: str
    payload: Mapping[str, Any]
    attempts: int
    created_at: datetime
    is_redrive: bool = False
    trace: Trace = NO_TRACE


@dataclass(frozen=True, slots=True)
class NewEvent:
    """A normalised event on its way into the table."""

    event_type: str
    aggregate_type: str
    aggregate_id: str
    payload: Any
    priority: int = DEFAULT_PRIORITY
    idempotency_key: str | None = None
    available_at: datetime | None = None
    max_attempts: int = DEFAULT_MAX_ATTEMPTS


def normalize_event(
    event_type: Any,
    aggregate_type: Any,
    aggregate_id: Any,
    payload: Any = None,
    *,
    priority: Any = DEFAULT_PRIORITY,
    idempotency_key: Any = None,
    available_at: datetime | None = None,
    max_attempts: Any = DEFAULT_MAX_ATTEMPTS,
) -> NewEvent | None:
    """The event in its normal form, or None when one of its three names is empty."""
    names = (
        _NOT_IN_TYPE.sub("", _text(event_type).upper())[:MAX_TYPE_LENGTH],
        _NOT_IN_AGGREGATE_TYPE.sub("", _text(aggregate_type).lower())[:MAX_TYPE_LENGTH],
        _text(aggregate_id)[:MAX_AGGREGATE_ID_LENGTH],
    )
    if not all(names):
        return None
    return NewEvent(
        *names,
        payload=payload,
        priority=_bounded(priority, DEFAULT_PRIORITY, HIGHEST_PRIORITY),
        idempotency_key=normalize_key(idempotency_key),
        available_at=available_at,
        max_attempts=_bounded(max_attempts, DEFAULT_MAX_ATTEMPTS, MOST_ATTEMPTS),
    )


def normalize_key(key: Any) -> str | None:
    """The key as stored: itself where normalising changes nothing and it has no upper case.

    Otherwise its normalised form cut to 163 characters, `~` and 16 hexadecimal digits of the
    original's SHA-256: the column compares without case, and characters that vanish would let
    different keys collide.
    """
    original = "" if key is None else str(key)
    cleaned = _NOT_IN_KEY.sub("", original)
    if not cleaned and not original.strip():
        return None
    if cleaned == original and cleaned == cleaned.lower() and len(cleaned) <= MAX_KEY_LENGTH:
        return cleaned
    digest = hashlib.sha256(original.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{cleaned[:KEPT_KEY_LENGTH]}~{digest[:KEY_DIGEST_LENGTH]}"


def _text(value: Any) -> str:
    return "" if value is None else js_trim(str(value))


def _bounded(value: Any, default: int, high: int) -> int:
    number = js_number(value)
    if math.isnan(number) or number == 0:
        return default
    return int(max(LOWEST_PRIORITY, min(high, number)))
