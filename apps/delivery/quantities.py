"""Kubernetes resource quantities: their value, and the one form the API server stores.

`2000m` and `2` are one amount, `2048Mi` and `2Gi` another. A server-side apply compares the text
that is sent with the text that is stored, so manifests carry the canonical form; comparisons go
by value. Source: the quantity rules of k8s.io/apimachinery as a real server answered them.
"""

import re
from fractions import Fraction
from math import ceil
from typing import Final

from apps.delivery.errors import InvalidQuantity

_QUANTITY: Final = re.compile(
    r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))"
    r"(?:(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E)|([eE])([+-]?[0-9]{1,3}))?"
)
_BINARY: Final = {
    name: 1024**power for power, name in enumerate(("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"))
}
_DECIMAL: Final = {
    "n": -3, "u": -2, "m": -1, "": 0, "k": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6,
}  # fmt: skip
_LOWEST_MILLI: Final = Fraction(1, 1000)


def parse_quantity(text: str | float) -> Fraction:
    """The amount in base units (cores, bytes), finer than a thousandth rounded up.

    Raises InvalidQuantity.
    """
    number, suffix, _, exponent = _parts(text)
    if exponent is not None:
        value = number * Fraction(10) ** exponent
    elif suffix in _BINARY:
        value = number * _BINARY[suffix]
    else:
        value = number * Fraction(1000) ** _DECIMAL[suffix]
    # The server keeps thousandths at the finest.
    return Fraction(ceil(value / _LOWEST_MILLI), 1000)


def canonical_quantity(text: str | float) -> str:
    """The form in which the API server gives the amount back. Raises InvalidQuantity."""
    value = parse_quantity(text)
    _, suffix, letter, exponent = _parts(text)
    if exponent is not None:
        return _in_exponents(value, letter)
    if suffix in _BINARY and suffix and value.denominator == 1 and abs(value) >= 1024:  # noqa: PLR2004
        return _in_binary(int(value))
    return _in_decimal(value)


def is_same_quantity(one: str | float, other: str | float) -> bool:
    """True when both name one amount; text that is no quantity equals only itself."""
    if one == other:
        return True
    try:
        return parse_quantity(one) == parse_quantity(other)
    except InvalidQuantity:
        return False


def cpu_quantity(milli: int) -> str:
    """Thousandths of a core (below a thousand cores) in canonical form: 2000 is `2`."""
    return str(milli // 1000) if milli % 1000 == 0 else f"{milli}m"


def memory_quantity(mebibytes: int) -> str:
    """Mebibytes in canonical form: 2048 is `2Gi`, 1536 is `1536Mi`."""
    return _in_binary(mebibytes * _BINARY["Mi"]) if mebibytes else "0"


def _parts(text: str | float) -> tuple[Fraction, str, str, int | None]:
    """Number, suffix, exponent letter and exponent of a quantity."""
    match = _QUANTITY.fullmatch(str(text)) if not isinstance(text, bool) else None
    if match is None:
        raise InvalidQuantity(f"{text!r} is no quantity; write for example 500m, 2 or 512Mi.")
    number, suffix, letter, exponent = match.groups()
    return Fraction(number), suffix or "", letter or "", None if exponent is None else int(exponent)


def _in_binary(value: int) -> str:
    """Whole bytes with the largest power of 1024 that divides them."""
    for suffix, factor in reversed(_BINARY.items()):
        if value % factor == 0:
            return f"{value // factor}{suffix}"
    raise AssertionError("every whole number is a multiple of one byte")


def _in_decimal(value: Fraction) -> str:
    """The largest power of 1000 that leaves a whole number."""
    for suffix, power in reversed(_DECIMAL.items()):
        scaled = value / Fraction(1000) ** power
        if scaled.denominator == 1 and (scaled or not suffix):
            return f"{scaled.numerator}{suffix}"
    raise AssertionError("thousandths are the finest that parse_quantity gives")


def _in_exponents(value: Fraction, letter: str) -> str:
    """As in _in_decimal, with a written exponent, which is a multiple of three."""
    for power in range(max(_DECIMAL.values()), -2, -1):
        scaled = value / Fraction(1000) ** power
        if scaled.denominator == 1 and (scaled or power == 0):
            return f"{scaled.numerator}{letter}{3 * power}" if power else str(scaled.numerator)
    raise AssertionError("thousandths are the finest that parse_quantity gives")
