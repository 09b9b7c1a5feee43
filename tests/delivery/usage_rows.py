"""Metrics, limits and reports that the usage tests start from."""

from datetime import UTC, datetime
from typing import Any

from apps.delivery.models import App, PlanLimit, UsageMetric, UsageTotal
from apps.delivery.usage.events import UsageReport

from .rows import make_app

NOW = datetime(2026, 3, 15, 12, tzinfo=UTC)
PERIOD = "2026-03-01"


def make_metric(app: App | None = None, code: str = "orders", **limit: Any) -> UsageMetric:
    """A metric of an app; with arguments its plan limits it."""
    app = app or make_app()
    declaration = {"code": code, "name": code.title()}
    metric = UsageMetric.objects.create(
        app=app, code=code, name=code.title(), declaration=declaration
    )
    if limit:
        PlanLimit.objects.create(plan=app.plan, metric_code=code, **limit)
    return metric


def report(event_id: str = "e1", quantity: int = 1, **fields: Any) -> UsageReport:
    """What the app `loja` reports about its metric `orders`."""
    return UsageReport(
        **{"app_code": "loja", "metric_code": "orders", "occurred_at": NOW, **fields},
        event_id=event_id,
        quantity=quantity,
    )


def total() -> UsageTotal:
    """The only counter."""
    return UsageTotal.objects.get()
