"""Events take their normal form as the original gives it, but for the rule of keys."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.outbox.events import MAX_KEY_LENGTH, normalize_event, normalize_key

VECTORS = json.loads((Path(__file__).parent.parent / "data/outbox_vectors.json").read_text())[
    "vectors"
]
UNDEFINED = {"$js": "undefined"}


@pytest.mark.parametrize("vector", VECTORS["d_domain_event_normalise"], ids=str)
def test_names_and_numbers_are_normalised_as_recorded(vector: dict[str, Any]) -> None:
    given_ = {} if vector["input"] == UNDEFINED else vector["input"]
    event = normalize_event(
        given_.get("eventType"),
        given_.get("aggregateType"),
        given_.get("aggregateId"),
        given_.get("payload"),
        priority=given_.get("priority"),
        max_attempts=given_.get("maxAttempts"),
    )
    expected = vector["output"]
    if expected is None:
        assert event is None
        return
    assert event is not None
    names = ("event_type", "aggregate_type", "aggregate_id", "payload", "priority", "max_attempts")
    assert {name: getattr(event, name) for name in names} == {n: expected[n] for n in names}


def test_a_key_that_normalising_leaves_alone_is_kept() -> None:
    assert normalize_key("pack_created:3f2b-1") == "pack_created:3f2b-1"


@pytest.mark.parametrize("key", ["pack:a,b", "v1.2", "EVT:1", "x" * 181, "é"])
def test_a_key_that_normalising_would_change_gets_a_digest(key: str) -> None:
    normal = normalize_key(key)
    assert normal is not None
    assert "~" in normal
    assert len(normal) <= MAX_KEY_LENGTH


@given(st.text(max_size=200), st.text(max_size=200))
def test_two_different_keys_never_become_one(first: str, second: str) -> None:
    keys = normalize_key(first), normalize_key(second)
    if first != second and None not in keys:
        assert str(keys[0]).lower() != str(keys[1]).lower()


@pytest.mark.parametrize("key", [None, "", "   "])
def test_no_key_stays_none(key: str | None) -> None:
    assert normalize_key(key) is None
