"""Overage in whole cents, and alerts that fire once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.delivery.usage.charges import (
    ALERT_PERCENTS,
    Overage,
    OverageMode,
    charge_minor,
    reached_alerts,
)

PER_BLOCK = Overage(OverageMode.BLOCK, price_minor=990, block_size=5_000)
amounts = st.integers(0, 10**12)


@pytest.mark.parametrize(
    ("used", "blocks"), [(30_000, 0), (30_001, 1), (34_000, 1), (35_000, 1), (35_001, 2)]
)
def test_a_block_begun_is_charged_whole(used: int, blocks: int) -> None:
    assert charge_minor(used, 30_000, PER_BLOCK) == blocks * 990


def test_units_are_charged_one_by_one() -> None:
    assert charge_minor(107, 100, Overage(OverageMode.UNIT, price_minor=3)) == 21


def test_without_a_price_more_costs_nothing() -> None:
    assert charge_minor(10**9, 0, None) == 0


@given(amounts, amounts, amounts)
def test_more_use_never_costs_less(used: int, more: int, included: int) -> None:
    assert charge_minor(used + more, included, PER_BLOCK) >= charge_minor(used, included, PER_BLOCK)


@given(amounts, amounts, st.integers(1, 10**9))
def test_more_use_never_reaches_less(used: int, more: int, included: int) -> None:
    assert set(reached_alerts(used, included)) <= set(reached_alerts(used + more, included))


@pytest.mark.parametrize(
    ("used", "reached"), [(79, ()), (80, (80,)), (100, (80, 100)), (500, ALERT_PERCENTS)]
)
def test_alerts_begin_exactly_at_their_percentage(used: int, reached: tuple[int, ...]) -> None:
    assert reached_alerts(used, 100) == reached


def test_nothing_included_means_no_percentages() -> None:
    assert reached_alerts(10, 0) == ()
