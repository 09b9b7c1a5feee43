"""A usage event as JSON: read strictly, so that a misspelt field is refused instead of ignored."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from apps.delivery.usage.events import MAX_ID_LENGTH, Refusal, UsageReport

# What codes of apps and metrics can look like; the database is not asked about anything else.
_CODE = re.compile(r"[a-z0-9][a-z0-9_.-]{0,62}")
_FIELDS = frozenset({"app", "metric", "id", "quantity", "occurred_at", "subject"})


def parse_report(item: Any, *, app_code: str | None) -> UsageReport | Refusal:
    """The report in a JSON object; `app_code` is the app of a caller who names none."""
    if not isinstance(item, Mapping):
        return Refusal.MALFORMED
    if not item.keys() <= _FIELDS:
        return Refusal.UNKNOWN_FIELD
    app, metric = item.get("app", app_code), item.get("metric")
    event_id, subject = item.get("id"), item.get("subject")
    subject = "" if subject is None else subject
    texts = (app, metric, event_id, subject)
    if not all(isinstance(text, str) for text in texts) or "quantity" not in item:
        return Refusal.MALFORMED
    if not _CODE.fullmatch(str(app)) or not _CODE.fullmatch(str(metric)):
        return Refusal.UNKNOWN_METRIC
    occurred_at = _moment(item.get("occurred_at"))
    if isinstance(occurred_at, Refusal):
        return occurred_at
    return UsageReport(
        app_code=str(app),
        metric_code=str(metric),
        event_id=str(event_id),
        quantity=item["quantity"],
        occurred_at=occurred_at,
        subject=subject,
    )


def shown_id(item: Any) -> str:
    """The id of an event for the answer, as far as it has one; what is no text cannot be sent."""
    found = item.get("id") if isinstance(item, Mapping) else None
    return printable(found) if isinstance(found, str) else ""


def printable(text: str) -> str:
    """A text from outside as an answer can hold it: short, and without halves of characters."""
    return text[:MAX_ID_LENGTH].encode("utf-8", "backslashreplace").decode()


def _moment(value: Any) -> datetime | Refusal | None:
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
        return moment.astimezone(UTC) if moment.tzinfo else Refusal.INVALID_TIME
    except (TypeError, ValueError, OverflowError):
        return Refusal.INVALID_TIME  # OverflowError: its UTC lies outside the calendar
