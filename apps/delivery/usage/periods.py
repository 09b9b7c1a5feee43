"""Billing periods: a month from an anchor day, at midnight in the app's own time zone."""

import calendar
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock_time
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

FIRST_DAY, LAST_DAY = 1, 31
# Late events are taken until this long after their period's end; then its totals are final.
LATE_SPAN = timedelta(days=3)
# What clocks of apps may run ahead.
AHEAD_SPAN = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Period:
    """From the first day up to and without the next period's first; times in UTC."""

    first_day: date
    next_day: date
    starts_at: datetime
    ends_at: datetime

    @property
    def closes_at(self) -> datetime:
        """Until then late events are taken."""
        return self.ends_at + LATE_SPAN


def is_time_zone(name: str) -> bool:
    """Whether the IANA database knows the time zone."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False  # OSError: the name of a folder of zones
    return True


def local_day(moment: datetime, zone: ZoneInfo) -> date:
    """The day that the app's clock shows."""
    return moment.astimezone(zone).date()


def period_of(moment: datetime, zone: ZoneInfo, anchor_day: int = FIRST_DAY) -> Period:
    """The period that a moment falls into. OverflowError near the ends of the calendar."""
    day = local_day(moment, zone)
    first = _anchored(day.year, day.month, anchor_day)
    if day < first:
        first = _anchored(*_month_before(day.year, day.month), anchor_day)
    return period_from(first, zone, anchor_day)


def period_from(first_day: date, zone: ZoneInfo, anchor_day: int = FIRST_DAY) -> Period:
    """The period that begins on this day."""
    end = _anchored(*_month_after(first_day.year, first_day.month), anchor_day)
    return Period(first_day, end, _midnight(first_day, zone), _midnight(end, zone))


def _anchored(year: int, month: int, anchor_day: int) -> date:
    """The anchor day, or the month's last day where the month is shorter."""
    return date(year, month, min(anchor_day, calendar.monthrange(year, month)[1]))


def _month_before(year: int, month: int) -> tuple[int, int]:
    return (year, month - 1) if month > 1 else (year - 1, 12)


def _month_after(year: int, month: int) -> tuple[int, int]:
    return (year, month + 1) if month < 12 else (year + 1, 1)  # noqa: PLR2004 (months)


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    """The first moment of a local day; where clocks skip midnight, the moment of the jump."""
    return datetime.combine(day, clock_time(), zone).astimezone(UTC)
