"""What Prometheus learns about usage."""

from collections import Counter as Tally
from collections.abc import Iterable

from prometheus_client import Counter

EVENTS = Counter(
    "pombo_usage_events", "Reported usage events: accepted, duplicate, or why refused.", ["outcome"]
)
CORRECTED = Counter(
    "pombo_usage_counters_corrected", "Counters that differed from their events and were mended."
)


def count_events(outcomes: Iterable[str]) -> None:
    """Count what became of a batch."""
    for outcome, count in Tally(outcomes).items():
        EVENTS.labels(outcome).inc(count)


def count_correction() -> None:
    """Count a counter that had to be mended."""
    CORRECTED.inc()
