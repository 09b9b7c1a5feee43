"""Kubernetes quantities: canonical text and exact value, as the recorded table has them."""

import re
from fractions import Fraction
from typing import Any

_SHAPE = re.compile(r"^([+-]?(?:\d+(?:\.\d*)?|\.\d+))([eE][+-]?\d+|[KMGTPE]i|[numkMGTPE]?)$")
_BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]
_DECIMAL = {"n": -3, "u": -2, "m": -1, "": 0, "k": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
_BY_POWER = {power: suffix for suffix, power in _DECIMAL.items()}


class BadQuantityError(ValueError):
    """The text is no quantity."""


def _split(text: str) -> tuple[Fraction, str]:
    match = _SHAPE.match(text)
    if not match:
        raise BadQuantityError(text)
    return Fraction(match[1]), match[2]


def value_of(text: Any) -> Fraction:
    """The exact number behind a quantity."""
    number, suffix = _split(str(text))
    if suffix[:1] in {"e", "E"} and len(suffix) > 1:
        return number * Fraction(10) ** int(suffix[1:])
    if suffix.endswith("i"):
        return number * 1024 ** _BINARY.index(suffix)
    return number * Fraction(1000) ** _DECIMAL[suffix]


def canonical(text: Any, *, is_cpu: bool = False) -> str:
    """The same number as the server stores it, within the family it was written in."""
    _, suffix = _split(str(text))
    value = value_of(text)
    if is_cpu and (value * 1000).denominator != 1:
        value = Fraction(-(-value * 1000 // 1), 1000)
    if len(suffix) > 1 and suffix[0] in "eE":
        return _scaled(value, lambda power: f"{suffix[0]}{power * 3}" if power else "")
    if suffix.endswith("i") and value.denominator == 1:
        return _binary(int(value))
    return _scaled(value, lambda power: _BY_POWER[power])


def _binary(value: int) -> str:
    power = 0
    while value and value % 1024 == 0 and power < len(_BINARY) - 1:
        value, power = value // 1024, power + 1
    return f"{value}{_BINARY[power]}"


def _scaled(value: Fraction, suffix: Any) -> str:
    if value == 0:
        return "0"
    for power in range(6, -4, -1):
        mantissa = value / Fraction(1000) ** power
        if mantissa.denominator == 1:
            return f"{mantissa.numerator}{suffix(power)}"
    raise BadQuantityError(str(value))
