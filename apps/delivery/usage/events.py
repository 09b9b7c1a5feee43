"""A usage event as an app reports it: what it may say, and when it comes too late."""

import hashlib
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from zoneinfo import ZoneInfo

from apps.delivery.usage.periods import AHEAD_SPAN, Period, period_of

MAX_BATCH = 1_000
MAX_ID_LENGTH = 100
MAX_SUBJECT_LENGTH = 80
# Twelve digits leave room for nine million such events below the end of a 64-bit counter.
MAX_QUANTITY = 10**12
# Visible ASCII: equal on every database, whatever its collation thinks of case and blanks.
EVENT_ID = re.compile(f"[!-~]{{1,{MAX_ID_LENGTH}}}")


class Refusal(StrEnum):
    """Why an event is not counted; sending it again changes nothing."""

    MALFORMED = "malformed"
    UNKNOWN_FIELD = "unknown_field"
    OTHER_APP = "other_app"
    UNKNOWN_METRIC = "unknown_metric"
    INVALID_ID = "invalid_id"
    INVALID_QUANTITY = "invalid_quantity"
    INVALID_SUBJECT = "invalid_subject"
    INVALID_TIME = "invalid_time"
    TOO_EARLY = "too_early"
    TOO_LATE = "too_late"
    EVENT_CONFLICT = "event_conflict"
    LIMIT_REACHED = "limit_reached"


@dataclass(frozen=True, slots=True)
class UsageReport:
    """What an app says: so much of a metric was used, then, by somebody in the app."""

    app_code: str
    metric_code: str
    event_id: str
    quantity: int
    occurred_at: datetime | None = None
    subject: str = ""

    @property
    def digest(self) -> str:
        """Equal for the same payload; a report without a time stays equal when sent later."""
        moment = self.occurred_at.astimezone(UTC).isoformat() if self.occurred_at else None
        payload = json.dumps([self.quantity, moment, self.subject], ensure_ascii=True)
        return hashlib.blake2b(payload.encode(), digest_size=16).hexdigest()


def broken_rule(report: UsageReport) -> Refusal | None:
    """What is wrong with a report, whatever the time."""
    if not EVENT_ID.fullmatch(report.event_id):
        return Refusal.INVALID_ID
    if isinstance(report.quantity, bool) or not isinstance(report.quantity, int):
        return Refusal.INVALID_QUANTITY
    if not 0 <= report.quantity <= MAX_QUANTITY:
        return Refusal.INVALID_QUANTITY
    if len(report.subject) > MAX_SUBJECT_LENGTH or not report.subject.isprintable():
        return Refusal.INVALID_SUBJECT
    if report.occurred_at is not None and report.occurred_at.tzinfo is None:
        return Refusal.INVALID_TIME
    return None


def place_in_time(
    occurred_at: datetime, *, now: datetime, zone: ZoneInfo, anchor_day: int
) -> Period | Refusal:
    """The period that a moment counts in, or why it no longer or not yet counts."""
    if occurred_at > now + AHEAD_SPAN:
        return Refusal.TOO_EARLY
    try:
        period = period_of(occurred_at, zone, anchor_day)
    except (OverflowError, ValueError):
        return Refusal.TOO_LATE  # the first days of the calendar, in a zone west of it
    return Refusal.TOO_LATE if now >= period.closes_at else period
