"""Keys equal to those of node apps, and waits that ride out half an hour."""

import json
import random
import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from bson import ObjectId, json_util
from hypothesis import given
from hypothesis import strategies as st

from apps.delivery.errors import InvalidSelector
from apps.delivery.process_jobs import MAX_ATTEMPTS, backoff_ms, dedupe_key, retry_delay_ms

from .vectors import vectors

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
    max_leaves=8,
)


@pytest.mark.parametrize("case", vectors("dedupeKey"), ids=lambda case: case["output"][:8])
def test_keys_equal_those_of_the_original(case: dict[str, Any]) -> None:
    given_input = json_util.loads(json.dumps(case["input"]))  # an id is written as {"$oid": …}
    key = dedupe_key(
        given_input["modelName"], given_input["selectors"], given_input["accessContext"]
    )
    assert key == case["output"]


@pytest.mark.parametrize("case", vectors("backoff"), ids=lambda case: str(case["input"]))
def test_backoff_equals_the_original(case: dict[str, Any]) -> None:
    assert backoff_ms(case["input"]) == case["output"]


@given(json_values)
def test_every_json_value_has_a_key(value: Any) -> None:
    assert re.fullmatch("[0-9a-f]{64}", dedupe_key("Order", value))


@given(st.dictionaries(st.text(st.characters()), st.integers(), max_size=6), st.randoms())
def test_the_order_of_members_does_not_matter(value: dict[str, int], rng: random.Random) -> None:
    members = list(value.items())
    rng.shuffle(members)
    assert dedupe_key("Order", dict(members)) == dedupe_key("Order", value)


def test_a_time_is_its_utc_text_in_milliseconds() -> None:
    moment = datetime(2026, 3, 1, 9, 0, 0, 123456, tzinfo=timezone(timedelta(hours=-3)))
    assert dedupe_key("A", moment) == dedupe_key("A", "2026-03-01T12:00:00.123Z")
    assert dedupe_key("A", moment) == dedupe_key("A", moment.astimezone(UTC).replace(tzinfo=None))


def test_an_object_id_is_its_hex_text() -> None:
    assert dedupe_key("A", ObjectId("0" * 24)) == dedupe_key("A", "0" * 24)


def test_an_empty_context_is_not_an_absent_one() -> None:
    assert dedupe_key("A", {}, {}) != dedupe_key("A", {}, None)


@pytest.mark.parametrize("value", [{1, 2}, re.compile("a"), b"a", {1: 2}])
def test_what_json_would_merge_is_refused(value: Any) -> None:
    with pytest.raises(InvalidSelector):
        dedupe_key("A", {"x": value})


@given(st.randoms())
def test_all_attempts_together_last_over_half_an_hour(rng: random.Random) -> None:
    waits = [retry_delay_ms(attempt, rng=rng) for attempt in range(1, MAX_ATTEMPTS)]
    assert sum(waits) >= 30 * 60 * 1000
