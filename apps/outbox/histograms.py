"""How long calls of handlers took, as histograms until they are noted. No Django."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence

# Upper bounds in seconds; calls that took longer count in one more bucket.
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)

# Under this name completed events are counted, whichever handlers they had.
COMPLETED = ""

_buckets: dict[str, list[int]] = {}
_completed = 0


def observe(handler: str, seconds: float) -> None:
    """Count one call."""
    counts = _buckets.get(handler)
    if counts is None:
        counts = _buckets[handler] = [0] * (len(BOUNDS) + 1)
    counts[bisect_left(BOUNDS, seconds)] += 1


def complete(events: int) -> None:
    """Count events that completed."""
    global _completed  # noqa: PLW0603 (one count for the process)
    _completed += events


def take() -> Mapping[str, Sequence[int]]:
    """The histograms by handler since the last call, and the completed events as one bucket."""
    global _completed  # noqa: PLW0603 (as above)
    taken: dict[str, Sequence[int]] = dict(_buckets)
    if _completed:
        taken[COMPLETED] = [_completed]
    _buckets.clear()
    _completed = 0
    return taken


def quantile(counts: Sequence[int], share: float) -> float:
    """Seconds within which that share of the calls ended, read off the histogram.

    Linear within a bucket, as Prometheus does it; beyond the last bound it is that bound. 0 without
    calls.
    """
    rank = share * sum(counts)
    below, lower = 0, 0.0
    for count, upper in zip(counts, BOUNDS, strict=False):
        if count and below + count >= rank:
            return lower + (upper - lower) * (rank - below) / count
        below, lower = below + count, upper
    return lower if below else (BOUNDS[-1] if sum(counts) else 0.0)
