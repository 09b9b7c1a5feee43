"""Which jobs are equal, and how long a failed one waits.

The key is the SHA-256 of what JSON.stringify writes for the job in JavaScript, keys in order, so
that a node app and Pombo see the same jobs as equal.
"""

import hashlib
import json
import math
import random
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from bson import ObjectId

from apps.delivery.errors import InvalidSelector

_CAP_MS = 300_000
_FIRST_MS = 1000
_DOUBLINGS = 9  # 2 ** 9 seconds are beyond the cap, so larger powers need no computing
_MAX_ARRAY_INDEX = 2**32 - 2
_EXACT_INTEGER = 2**53
_FIRST_EXPONENT, _LAST_PLAIN_EXPONENT = -7, 20
_JITTER = (1.1, 1.3)  # upwards only: 14 attempts then last over half an hour


def dedupe_key(
    model_name: str, selectors: Any, access_context: Mapping[str, Any] | None = None
) -> str:
    """64 hex digits that name the job; without a context they name its target.

    Raises InvalidSelector for a value that JSON would merge with another one (a set, a pattern).
    """
    # An empty context stays one: in JavaScript an empty object is true.
    material = {"accessContext": access_context, "modelName": model_name, "selectors": selectors}
    return hashlib.sha256(_stringify(material).encode()).hexdigest()


def backoff_ms(attempts: int) -> int:
    """One second, doubled for each further attempt, at most five minutes."""
    return min(_CAP_MS, _FIRST_MS << min(max(0, attempts - 1), _DOUBLINGS))


def retry_delay_ms(attempts: int, *, rng: random.Random) -> int:
    """The back-off, 10 to 30 % longer, so that jobs that failed together come back apart."""
    return round(backoff_ms(attempts) * rng.uniform(*_JITTER))


def _stringify(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, Mapping):
        return _object(value)
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_stringify, value))}]"
    return _text(_scalar(value))


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, ObjectId):
        return str(value)
    if isinstance(value, datetime):
        aware = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        return aware.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    raise InvalidSelector(type(value).__name__)


def _object(value: Mapping[str, Any]) -> str:
    members = (f"{_text(key)}:{_stringify(value[key])}" for key in sorted(value, key=_key_order))
    return f"{{{','.join(members)}}}"


def _key_order(key: str) -> tuple[int, int, bytes]:
    """As JavaScript lists members: array indexes by number, then the rest by UTF-16 units."""
    if not isinstance(key, str):
        raise InvalidSelector(type(key).__name__)
    if key.isascii() and key.isdigit() and str(int(key)) == key and int(key) <= _MAX_ARRAY_INDEX:
        return (0, int(key), b"")
    return (1, 0, key.encode("utf-16-be", "surrogatepass"))


def _text(value: str) -> str:
    """A quoted string; a surrogate without its other half is escaped, a pair is one character."""
    whole = value.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "surrogatepass")
    quoted = json.dumps(whole, ensure_ascii=False)
    return "".join(
        f"\\u{ord(unit):04x}" if "\ud800" <= unit <= "\udfff" else unit for unit in quoted
    )


def _number(value: float) -> str:
    """As JavaScript writes a number: the shortest digits, an exponent only far from the point."""
    if isinstance(value, int) and abs(value) < _EXACT_INTEGER:
        return str(int(value))
    double = _as_double(value)
    if not math.isfinite(double):
        return "null"
    if double == 0:
        return "0"
    digits, exponent = _shortest(abs(double))
    return ("-" if double < 0 else "") + _written(digits, exponent)


def _as_double(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _shortest(double: float) -> tuple[str, int]:
    """The digits that name the double, and the power of ten of the first one."""
    mantissa, _, power = repr(double).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading_zeros = len(whole + fraction) - len(digits)
    return digits.rstrip("0"), int(power or 0) + len(whole) - 1 - leading_zeros


def _written(digits: str, exponent: int) -> str:
    if exponent <= _FIRST_EXPONENT or exponent > _LAST_PLAIN_EXPONENT:
        point = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{digits[0]}{point}e{exponent:+d}"
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + digits
    whole, fraction = digits[: exponent + 1].ljust(exponent + 1, "0"), digits[exponent + 1 :]
    return f"{whole}.{fraction}" if fraction else whole
