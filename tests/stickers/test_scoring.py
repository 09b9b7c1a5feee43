"""The formulas give the values of the original."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.stickers import scoring

VECTORS = json.loads((Path(__file__).parent.parent / "data/stickers_vectors.json").read_text())[
    "vectors"
]
ARGUMENTS = {
    "pack": "pack",
    "engagement": "engagement",
    "packClassification": "pack_classification",
    "itemClassifications": "item_classifications",
    "interactionStats": "interaction_stats",
    "scoringWeights": "scoring_weights",
    "duplicateRate": "duplicate_rate",
}
NOW = datetime(2026, 3, 1, tzinfo=UTC)
counters = st.integers(min_value=0, max_value=10**6)


@pytest.mark.parametrize("vector", VECTORS["d_pack_signals"], ids=lambda v: str(v["input"])[:40])
def test_signals_are_those_of_the_original(vector: dict[str, Any]) -> None:
    now = datetime.fromtimestamp(vector["input"]["nowMs"] / 1000, UTC)
    arguments = {ARGUMENTS[name]: value for name, value in vector["input"]["args"].items()}
    assert scoring.pack_signals(now=now, **arguments) == vector["output"]


@pytest.mark.parametrize("vector", VECTORS["d_pack_summary"], ids=lambda v: str(v["input"])[:40])
def test_summaries_are_those_of_the_original(vector: dict[str, Any]) -> None:
    given_ = vector["input"]
    summary = scoring.pack_summary(given_["classifications"], given_["assetIds"])
    assert summary == vector["output"]


@pytest.mark.parametrize("vector", VECTORS["d_sticker_tags"], ids=str)
def test_tags_are_those_of_the_original(vector: dict[str, Any]) -> None:
    assert scoring.sticker_tags(vector["input"]) == vector["output"]


@pytest.mark.parametrize("vector", VECTORS["d_drift"], ids=lambda v: str(v["input"]))
def test_drift_weights_are_those_of_the_original(vector: dict[str, Any]) -> None:
    result = scoring.drift_weights(vector["input"]["d7"], vector["input"]["d30"])
    assert {"driftScore": result["drift_score"], "weights": result["weights"]} == vector["output"]


@given(likes=counters, more=counters, opens=counters, dislikes=counters)
def test_a_like_never_lowers_engagement(likes: int, more: int, opens: int, dislikes: int) -> None:
    fewer = {"like_count": likes, "open_count": opens, "dislike_count": dislikes}
    greater = fewer | {"like_count": likes + more}
    assert scoring.engagement_score(fewer) <= scoring.engagement_score(greater)


@given(st.integers(min_value=0, max_value=5000))
def test_age_only_lowers_a_rank(days: int) -> None:
    older = scoring.age_decay({"updated_at": NOW - timedelta(days=days + 1)}, NOW)
    assert 0 <= older <= scoring.age_decay({"updated_at": NOW - timedelta(days=days)}, NOW) <= 1


def test_a_pack_from_the_future_has_no_age() -> None:
    assert scoring.age_decay({"updated_at": NOW + timedelta(days=3)}, NOW) == 1


@pytest.mark.parametrize(("value", "rounded"), [(0.0078125, 0.007813), (0.1234565, 0.123456)])
def test_halves_round_as_javascript_does(value: float, rounded: float) -> None:
    assert scoring.n6(value) == rounded


def test_rubbish_counts_as_zero() -> None:
    signals = scoring.pack_signals(
        pack={"items": [{"asset": {"width": "x", "size_bytes": None}}]},
        engagement={"like_count": "many"},
        item_classifications=[{"all_scores": None}, {}],
        now=NOW,
    )
    assert signals["engagement_score"] == 0
