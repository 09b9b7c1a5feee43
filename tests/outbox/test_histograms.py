"""Quantiles read off a histogram lie where the calls lay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.outbox import histograms
from apps.outbox.histograms import BOUNDS, quantile


@given(st.lists(st.floats(0.0001, 59), min_size=1, max_size=200), st.sampled_from([0.5, 0.95, 1]))
def test_a_quantile_lies_in_the_bucket_of_the_true_one(seconds: list[float], share: float) -> None:
    histograms.take()
    for each in seconds:
        histograms.observe("h", each)
    (counts,) = histograms.take().values()
    ordered = sorted(seconds)
    true = next(x for n, x in enumerate(ordered, 1) if n >= share * len(ordered))
    bucket = next(n for n, bound in enumerate(BOUNDS) if true <= bound)
    lower = BOUNDS[bucket - 1] if bucket else 0
    assert lower <= quantile(counts, share) <= BOUNDS[bucket]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [([0] * 16, 0), ([0] * 15 + [3], BOUNDS[-1]), ([4] + [0] * 15, 0.0005)],
    ids=["no call", "beyond the last bound", "half way into the first bucket"],
)
def test_the_ends(counts: list[int], expected: float) -> None:
    assert quantile(counts, 0.5) == expected


def test_taking_starts_anew() -> None:
    histograms.observe("h", 0.1)
    histograms.complete(3)
    assert set(histograms.take()) == {"h", histograms.COMPLETED}
    assert histograms.take() == {}
