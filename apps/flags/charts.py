"""The history of a percentage as a line to be drawn. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

WIDTH, HEIGHT = 600, 120


@dataclass(frozen=True, slots=True)
class StepLine:
    """The points of an SVG polyline in a box of 600 × 120, and what its ends mean."""

    points: str
    first: datetime
    last: datetime


def step_line(history: Sequence[tuple[datetime, int]]) -> StepLine | None:
    """The line of a percentage over time; None while there is no history."""
    if not history:
        return None
    first, last = history[0][0], history[-1][0]
    span = (last - first).total_seconds() or 1.0
    points: list[str] = []
    level = history[0][1]
    for moment, percent in history:
        x = round(WIDTH * (moment - first).total_seconds() / span)
        points += [f"{x},{_y(level)}", f"{x},{_y(percent)}"]
        level = percent
    points.append(f"{WIDTH},{_y(level)}")
    return StepLine(" ".join(points), first, last)


def _y(percent: int) -> int:
    return HEIGHT - round(HEIGHT * percent / 100)
