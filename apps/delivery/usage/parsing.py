"""A usage event as JSON: read strictly, so that a misspelt field is refused instead of ignored."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from apps.delivery.usage.events import Refusal, UsageReport

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
    """The id of an event for the answer, as far as it has one."""
    found = item.get("id") if isinstance(item, Mapping) else None
    return found if isinstance(found, str) else ""


def _moment(value: Any) -> datetime | Refusal | None:
    if value is None:
        return None
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return Refusal.INVALID_TIME
