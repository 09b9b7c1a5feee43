"""A request of an app with usage events: read, tied to its app, counted, answered one by one."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from apps.delivery.errors import (
    OtherApp,
    TooManyEvents,
    UsageEventConflict,
    UsageEventRefused,
    UsageLimitReached,
    UsageMetricNotFound,
)
from apps.delivery.services.usage_ingest import Outcome, ingest
from apps.delivery.usage.events import MAX_BATCH, Refusal, UsageReport
from apps.delivery.usage.parsing import parse_report, printable, shown_id
from apps.delivery.usage_texts import REFUSAL_TEXTS


def report_one(item: Any, *, own_app: str | None, now: datetime) -> Outcome:
    """Count one event, or raise what is wrong with it.

    Raises UsageEventRefused, UsageMetricNotFound, UsageEventConflict, UsageLimitReached, OtherApp.
    """
    outcome = report_batch([item], own_app=own_app, default_app=None, now=now)[0]
    if isinstance(outcome.status, Refusal):
        raise _error(outcome.status, item)
    return outcome


def report_batch(
    items: Sequence[Any], *, own_app: str | None, default_app: str | None, now: datetime
) -> list[Outcome]:
    """Count a batch; the outcomes stand in its order. Raises TooManyEvents.

    `own_app` is the only app that the caller may report for, None for all.
    """
    if not 1 <= len(items) <= MAX_BATCH:
        raise TooManyEvents(f"A batch has 1 to {MAX_BATCH} events.")
    parsed = [parse_report(item, app_code=default_app or own_app) for item in items]
    judged = [_of_app(report, own_app) for report in parsed]
    reports = [report for report in judged if isinstance(report, UsageReport)]
    counted = iter(ingest(reports, now=now) if reports else ())
    return [
        next(counted) if isinstance(report, UsageReport) else Outcome(shown_id(item), report)
        for item, report in zip(items, judged, strict=True)
    ]


def _of_app(report: UsageReport | Refusal, own_app: str | None) -> UsageReport | Refusal:
    if isinstance(report, UsageReport) and own_app not in {None, report.app_code}:
        return Refusal.OTHER_APP
    return report


def _error(refusal: Refusal, item: Any) -> Exception:
    message, details = REFUSAL_TEXTS[refusal], {"reason": str(refusal)}
    if refusal is Refusal.EVENT_CONFLICT:
        return UsageEventConflict(message, details=details)
    if refusal is Refusal.LIMIT_REACHED:
        return UsageLimitReached(message, details=details)
    if refusal is Refusal.OTHER_APP:
        return OtherApp(message, details=details)
    if refusal is Refusal.UNKNOWN_METRIC:
        return UsageMetricNotFound(*(printable(str(item.get(name))) for name in ("app", "metric")))
    return UsageEventRefused(message, details=details)
