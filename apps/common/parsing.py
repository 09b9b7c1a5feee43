"""Booleans, numbers and white space as JavaScript reads them, for values shared with Node programs.

Python differs in ways that matter: `str.strip` knows other blanks, `int` accepts `1_000` and digits
of other scripts, and `float` accepts `nan`. Standard library only.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

TRUE_WORDS = frozenset({"1", "true", "yes", "y", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "n", "off"})
# ECMA-262 white space and line terminators; str.strip() also takes U+0085 and U+001C..U+001F,
# and leaves U+FEFF.
JS_BLANKS = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_INFINITY = re.compile(r"[+-]?Infinity")
_PREFIXED = re.compile(r"0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+")


def to_bool(value: Any, fallback: T | bool = False) -> T | bool:  # noqa: FBT001, FBT002 (seed)
    """True or false for the usual words and for 1 and 0; the fallback for anything else."""
    if value is True or value is False:
        return bool(value)
    if value is None or value == "":
        return fallback
    if isinstance(value, int | float) and value in (0, 1):
        return value == 1
    word = js_trim(js_string(value)).lower()
    if word in TRUE_WORDS:
        return True
    if word in FALSE_WORDS:
        return False
    return fallback


def js_trim(text: str) -> str:
    """The text without what `String.prototype.trim` takes from its ends."""
    return text.strip(JS_BLANKS)


def js_number(value: Any) -> float:
    """What `Number(value)` gives: NaN for what is no number, 0 for blank text and None."""
    if value is None:
        return 0.0
    if isinstance(value, bool | int | float):
        return _to_float(value)
    if isinstance(value, Mapping):
        return math.nan
    text = js_trim(js_string(value))
    if not text:
        return 0.0
    if _DECIMAL.fullmatch(text):
        return float(text)
    if _PREFIXED.fullmatch(text):
        return _to_float(int(text, 0))
    if _INFINITY.fullmatch(text):
        return -math.inf if text.startswith("-") else math.inf
    return math.nan


def js_string(value: Any) -> str:
    """What `String(value)` gives for values that JSON can hold."""
    if value is None:
        return "null"
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, Mapping):
        return "[object Object]"
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return ",".join("" if item is None else js_string(item) for item in value)
    return str(value)


def _to_float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _float_text(number: float) -> str:
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    return str(int(number)) if number.is_integer() and abs(number) < 1e21 else repr(number)  # noqa: PLR2004 (where JavaScript turns to exponents)
