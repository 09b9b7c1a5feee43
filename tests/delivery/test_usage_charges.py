"""Overage in whole cents, and alerts that fire once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.delivery.usage.charges import (
    ALERT_PERCENTS,
    Overage,
    OverageMode,
    charge_minor,
    crossed_alerts,
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


@given(st.lists(st.integers(0, 300), max_size=30), st.integers(1, 1000))
def test_each_alert_fires_once_however_usage_arrives(steps: list[int], included: int) -> None:
    fired, total = [], 0
    for step in steps:
        fired += crossed_alerts(total, total + step, included)
        total += step
    assert fired == [percent for percent in ALERT_PERCENTS if total * 100 >= included * percent]
