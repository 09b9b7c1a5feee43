"""Months on the app's own clock: anchors, short months, and days without a midnight."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.delivery.usage.periods import local_day, period_from, period_of

SAO_PAULO = ZoneInfo("America/Sao_Paulo")
zones = st.sampled_from(
    ["UTC", "America/Sao_Paulo", "Asia/Kathmandu", "Pacific/Apia", "America/Havana", "Asia/Beirut"]
).map(ZoneInfo)
moments = st.integers(631_152_000, 2_114_380_800).map(
    lambda seconds: datetime.fromtimestamp(seconds, UTC)
)
anchors = st.integers(1, 31)


@given(moments, zones, anchors)
def test_every_moment_lies_in_its_period(moment: datetime, zone: ZoneInfo, anchor: int) -> None:
    period = period_of(moment, zone, anchor)
    assert period.starts_at <= moment < period.ends_at


@given(moments, zones, anchors)
def test_periods_follow_each_other_without_a_gap(
    moment: datetime, zone: ZoneInfo, anchor: int
) -> None:
    period = period_of(moment, zone, anchor)
    following = period_of(period.ends_at, zone, anchor)
    assert following.starts_at == period.ends_at
    assert period_of(period.ends_at - timedelta(microseconds=1), zone, anchor) == period


@given(moments, zones, anchors)
def test_a_period_is_known_by_its_first_day(moment: datetime, zone: ZoneInfo, anchor: int) -> None:
    period = period_of(moment, zone, anchor)
    assert period_from(period.first_day, zone, anchor) == period


@pytest.mark.parametrize(
    ("moment", "first_day"),
    [
        (datetime(2026, 3, 1, 2, 59, tzinfo=UTC), date(2026, 2, 1)),
        (datetime(2026, 3, 1, 3, 0, tzinfo=UTC), date(2026, 3, 1)),
    ],
)
def test_a_month_begins_at_midnight_of_the_app(moment: datetime, first_day: date) -> None:
    assert period_of(moment, SAO_PAULO).first_day == first_day


def test_where_clocks_skip_midnight_the_day_begins_with_the_jump() -> None:
    jump = datetime(2018, 11, 4, 3, tzinfo=UTC)  # 00:00 became 01:00 in São Paulo
    assert period_of(jump, SAO_PAULO, 4).starts_at == jump
    assert period_of(jump - timedelta(seconds=1), SAO_PAULO, 4).ends_at == jump


def test_where_clocks_go_back_over_midnight_the_day_begins_once() -> None:
    first = datetime(2026, 11, 1, 4, tzinfo=UTC)  # 01:00 becomes 00:00 in Havana an hour later
    havana = ZoneInfo("America/Havana")
    assert period_of(first, havana).starts_at == first
    assert local_day(first + timedelta(hours=1, minutes=30), havana) == date(2026, 11, 1)


@pytest.mark.parametrize(
    ("day", "first_day", "end"),
    [
        (date(2026, 2, 27), date(2026, 1, 31), date(2026, 2, 28)),
        (date(2026, 2, 28), date(2026, 2, 28), date(2026, 3, 31)),
        (date(2028, 2, 29), date(2028, 2, 29), date(2028, 3, 31)),
        (date(2026, 4, 30), date(2026, 4, 30), date(2026, 5, 31)),
    ],
)
def test_an_anchor_on_the_31st_takes_the_last_day_of_short_months(
    day: date, first_day: date, end: date
) -> None:
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    period = period_of(noon, ZoneInfo("UTC"), 31)
    assert (period.first_day, period.ends_at.date()) == (first_day, end)
