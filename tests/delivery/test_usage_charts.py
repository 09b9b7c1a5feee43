"""Columns and bars stay in their boxes and tell the truth."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.delivery.usage.charts import HEIGHT, WIDTH, day_columns, limit_bar

FIRST = date(2026, 3, 1)
amounts = st.integers(0, 10**15)


@given(st.integers(1, 31), st.dictionaries(st.integers(0, 30), amounts))
def test_columns_stay_in_the_box_and_grow_with_the_day(count: int, by_day: dict[int, int]) -> None:
    units = {FIRST + timedelta(days=number): amount for number, amount in by_day.items()}
    columns = day_columns(FIRST, FIRST + timedelta(days=count), units)
    assert len(columns) == count
    for column in columns:
        assert 0 <= column.x < column.x + column.width <= WIDTH
        assert column.y + column.height == HEIGHT
        assert (column.height > 0) == (column.units > 0)


@given(amounts, amounts, st.none() | amounts, st.none() | amounts)
def test_a_bar_never_leaves_its_line(
    used: int, reserved: int, included: int | None, ceiling: int | None
) -> None:
    bar = limit_bar(used, reserved, included, ceiling)
    assert 0 <= bar.used_width + bar.reserved_width <= WIDTH
    for mark in (bar.included_x, bar.ceiling_x):
        assert mark is None or 0 <= mark <= WIDTH


@pytest.mark.parametrize(
    ("used", "included", "level"),
    [
        (79, 100, "calm"),
        (80, 100, "near"),
        (100, 100, "over"),
        (5, None, "calm"),
        (0, 0, "calm"),
        (1, 0, "over"),
    ],
)
def test_the_level_warns_before_the_limit(used: int, included: int | None, level: str) -> None:
    assert limit_bar(used, 0, included, None).level == level
