"""What Prometheus learns about the outbox."""

from collections.abc import Iterable

from prometheus_client import Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric

from apps.outbox import histograms, queries

EVENTS = Counter(
    "pombo_outbox_events", "Events by type and outcome of a run.", ["event_type", "outcome"]
)
HANDLER_SECONDS = Histogram(
    "pombo_outbox_handler_seconds", "How long calls of a handler took.", ["handler"]
)


def count_events(event_type: str, outcome: str, count: int) -> None:
    """Count events that were completed, retried, released, held, or became dead letters."""
    EVENTS.labels(event_type, outcome).inc(count)
    if outcome == "completed":
        histograms.complete(count)


def observe_call(handler: str, seconds: float) -> None:
    """Note how long one call of a handler took, for Prometheus and for the dashboard."""
    HANDLER_SECONDS.labels(handler).observe(seconds)
    histograms.observe(handler, seconds)


def collect() -> Iterable[Metric]:
    """Depth by type and state, and the age of the oldest due event, from the table itself."""
    depth = GaugeMetricFamily(
        "pombo_outbox_depth", "Events by type and state.", labels=["event_type", "status"]
    )
    for row in queries.depth_by_type():
        depth.add_metric([row.event_type, row.status], row.count)
    yield depth
    oldest = GaugeMetricFamily(
        "pombo_outbox_oldest_due_seconds", "How long the oldest due event has waited."
    )
    oldest.add_metric([], queries.oldest_due_seconds())
    yield oldest
