"""What usage beyond the included amount costs; integers in cents, blocks round up."""

from dataclasses import dataclass
from enum import StrEnum

ALERT_PERCENTS = (80, 100, 120)


class OverageMode(StrEnum):
    """What a price buys."""

    UNIT = "unit"
    BLOCK = "block"


@dataclass(frozen=True, slots=True)
class Overage:
    """The price beyond what is included: per unit, or per block begun."""

    mode: OverageMode
    price_minor: int
    block_size: int = 1


def overage_units(used: int, included: int) -> int:
    """Units beyond what is included; exactly at the limit there are none."""
    return max(0, used - included)


def charged_blocks(units: int, block_size: int) -> int:
    """Blocks begun: one unit of a block costs as much as all of it."""
    return -(-units // block_size)


def charge_minor(used: int, included: int, overage: Overage | None) -> int:
    """Cents to charge for a period; nothing where the plan has no price for more."""
    if overage is None:
        return 0
    units = overage_units(used, included)
    if overage.mode is OverageMode.BLOCK:
        units = charged_blocks(units, overage.block_size)
    return units * overage.price_minor


def reached_alerts(used: int, included: int) -> tuple[int, ...]:
    """The percentages of the included amount that usage has reached.

    An empty allowance has none: any use at all would be beyond every percentage.
    """
    if included <= 0:
        return ()
    return tuple(percent for percent in ALERT_PERCENTS if used * 100 >= included * percent)
