"""Usage as pictures: units a day as columns, and a period's limit as a bar. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

WIDTH, HEIGHT = 600, 120
BAR_HEIGHT = 16
_GAP = 2
_WARN_PERCENT = 80


@dataclass(frozen=True, slots=True)
class Column:
    """A day, in a box of 600 × 120 whose origin is the upper left corner."""

    day: date
    units: int
    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class LimitBar:
    """A line of 600: used, then held, with marks where the plan says something."""

    used_width: int
    reserved_width: int
    included_x: int | None
    ceiling_x: int | None
    level: str


def day_columns(first: date, end: date, units: Mapping[date, int]) -> list[Column]:
    """A column for each day from the first up to and without the end; a used day is never flat."""
    count = max(1, (end - first).days)
    most = max(units.values(), default=0) or 1
    columns = []
    for number in range(count):
        day = first + timedelta(days=number)
        amount = units.get(day, 0)
        left, right = WIDTH * number // count, WIDTH * (number + 1) // count
        height = max(HEIGHT * amount // most, 1 if amount else 0)
        width = max(1, right - left - _GAP)
        columns.append(Column(day, amount, left, HEIGHT - height, width, height))
    return columns


def limit_bar(used: int, reserved: int, included: int | None, ceiling: int | None) -> LimitBar:
    """How full a period is; the longest of all is the whole line."""
    whole = max(used + reserved, included or 0, ceiling or 0, 1)
    return LimitBar(
        used_width=WIDTH * used // whole,
        reserved_width=WIDTH * reserved // whole,
        included_x=None if included is None else WIDTH * included // whole,
        ceiling_x=None if ceiling is None else WIDTH * ceiling // whole,
        level=level_of(used, included),
    )


def level_of(used: int, included: int | None) -> str:
    """How near usage is to what is included: calm, near or over."""
    if included is None or (included == 0 and used == 0):
        return "calm"
    if used >= included:
        return "over"
    return "near" if used * 100 >= included * _WARN_PERCENT else "calm"
