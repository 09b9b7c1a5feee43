"""What a plan says about one metric, and where it contradicts itself."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from apps.delivery.usage.charges import Overage, OverageMode


class OnLimit(StrEnum):
    """What happens when the included amount is used up."""

    BLOCK = "block"
    AUTO_ADDON = "auto_addon"


class Contradiction(StrEnum):
    """Why the terms cannot be meant like this."""

    ADDON_WITHOUT_OVERAGE = "addon_without_overage"
    BLOCK_WITH_OVERAGE = "block_with_overage"
    BLOCK_SIZE_WITHOUT_BLOCKS = "block_size_without_blocks"
    BLOCKS_WITHOUT_SIZE = "blocks_without_size"
    OVERAGE_WITHOUT_PRICE = "overage_without_price"
    PRICE_WITHOUT_OVERAGE = "price_without_overage"
    HARD_BELOW_INCLUDED = "hard_below_included"
    SOFT_ABOVE_HARD = "soft_above_hard"


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of one metric; None where the plan sets nothing."""

    included: int
    on_limit: OnLimit
    overage_mode: OverageMode | None = None
    price_minor: int | None = None
    block_size: int | None = None
    soft_limit: int | None = None
    hard_limit: int | None = None

    @property
    def overage(self) -> Overage | None:
        """The price of more, if more has one."""
        if self.overage_mode is None or self.price_minor is None:
            return None
        return Overage(self.overage_mode, self.price_minor, self.block_size or 1)

    @property
    def ceiling(self) -> int | None:
        """What usage never crosses; None where more is always let in.

        A plan that blocks ends at what is included unless it names a higher hard limit.
        """
        if self.hard_limit is not None:
            return self.hard_limit
        return self.included if self.on_limit is OnLimit.BLOCK else None


def frozen_terms(terms: Terms | None) -> dict[str, Any]:
    """Terms as JSON, to be kept with a closed period; empty where the plan set none."""
    return asdict(terms) if terms else {}


def thawed_terms(frozen: Mapping[str, Any]) -> Terms | None:
    """The terms that `frozen_terms` kept."""
    if not frozen:
        return None
    mode = frozen["overage_mode"]
    return Terms(
        **{
            **frozen,
            "on_limit": OnLimit(frozen["on_limit"]),
            "overage_mode": OverageMode(mode) if mode else None,
        }
    )


def contradictions(terms: Terms) -> list[tuple[str, Contradiction]]:
    """Each contradiction with the field that shows it; none for terms that can be meant."""
    return [*_overage_contradictions(terms), *_limit_contradictions(terms)]


def _overage_contradictions(terms: Terms) -> list[tuple[str, Contradiction]]:
    found = []
    mode = terms.overage_mode
    if terms.on_limit is OnLimit.AUTO_ADDON and mode is None:
        found.append(("overage_mode", Contradiction.ADDON_WITHOUT_OVERAGE))
    if terms.on_limit is OnLimit.BLOCK and mode is not None:
        found.append(("overage_mode", Contradiction.BLOCK_WITH_OVERAGE))
    if mode is not None and terms.price_minor is None:
        found.append(("price_minor", Contradiction.OVERAGE_WITHOUT_PRICE))
    if mode is None and terms.price_minor is not None:
        found.append(("price_minor", Contradiction.PRICE_WITHOUT_OVERAGE))
    if mode is OverageMode.BLOCK and terms.block_size is None:
        found.append(("block_size", Contradiction.BLOCKS_WITHOUT_SIZE))
    if mode is not OverageMode.BLOCK and terms.block_size is not None:
        found.append(("block_size", Contradiction.BLOCK_SIZE_WITHOUT_BLOCKS))
    return found


def _limit_contradictions(terms: Terms) -> list[tuple[str, Contradiction]]:
    found = []
    if terms.hard_limit is not None and terms.hard_limit < terms.included:
        found.append(("hard_limit", Contradiction.HARD_BELOW_INCLUDED))
    ceiling = terms.ceiling
    if terms.soft_limit is not None and ceiling is not None and terms.soft_limit > ceiling:
        found.append(("soft_limit", Contradiction.SOFT_ABOVE_HARD))
    return found
