"""Text as the bots' JavaScript sees it: trimming and conversion to a string.

Login links are built by programs on Node and read here, so both sides must see the same characters:
JavaScript trims other white space than Python, and turns numbers and lists into text its own way.
"""

from collections.abc import Mapping
from typing import Any

# What ECMAScript's trim() removes; Python's strip() also takes U+0085 and U+001C to U+001F.
JS_WHITE_SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)


def js_trim(text: str) -> str:
    """The text without JavaScript's white space at either end."""
    return text.strip(JS_WHITE_SPACE)


def js_string(value: Any) -> str:
    """A JSON value as JavaScript's `String(value)` writes it; None gives an empty string."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, Mapping):
        return "[object Object]"
    if isinstance(value, list | tuple):
        return ",".join(js_string(item) for item in value)
    return str(value)
