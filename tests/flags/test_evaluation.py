"""Evaluation gives the answers of the original, and raising a percentage only adds subjects."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.common.parsing import to_bool
from apps.flags.evaluation import (
    FlagDefinition,
    Reason,
    cohort_bucket,
    definition_of,
    evaluate,
    evaluate_missing,
    normalize_flag_name,
    to_percent,
)

VECTORS = json.loads((Path(__file__).parent.parent / "data/flags_vectors.json").read_text())[
    "vectors"
]
JS_VALUES = {"undefined": None, "NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
percents = st.integers(min_value=0, max_value=100)


def plain(value: Any) -> Any:
    """A JavaScript value as Python's."""
    return JS_VALUES[value["$js"]] if isinstance(value, dict) and "$js" in value else value


def flag_at(percent: int) -> FlagDefinition:
    return FlagDefinition("f", is_enabled=True, rollout_percent=percent)


@pytest.mark.parametrize("vector", VECTORS["a_bucket"], ids=lambda v: repr(v["input"])[:30])
def test_buckets_are_those_of_the_original(vector: dict[str, Any]) -> None:
    assert cohort_bucket(plain(vector["input"])) == vector["output"]


@pytest.mark.parametrize("vector", VECTORS["a_flag_name"], ids=lambda v: repr(v["input"])[:30])
def test_names_are_normalised_as_by_the_original(vector: dict[str, Any]) -> None:
    assert normalize_flag_name(plain(vector["input"])) == vector["output"]


@pytest.mark.parametrize("vector", VECTORS["a_to_percent"], ids=lambda v: repr(v["input"])[:30])
def test_percentages_are_read_as_by_the_original(vector: dict[str, Any]) -> None:
    value = math.nan if vector["input"] == {"$js": "undefined"} else plain(vector["input"])
    assert to_percent(value) == vector["output"]


@pytest.mark.parametrize("vector", VECTORS["a_to_bool"], ids=lambda v: repr(v["input"])[:50])
def test_booleans_are_read_as_by_the_original(vector: dict[str, Any]) -> None:
    fallback = vector["input"]["fallback"]
    fallback = False if fallback == {"$js": "undefined"} else fallback
    assert to_bool(plain(vector["input"]["value"]), fallback) == vector["output"]


@pytest.mark.parametrize(
    "vector",
    VECTORS["a_is_enabled"] + VECTORS["a_is_enabled_env"],
    ids=lambda v: repr(v["input"])[:50],
)
def test_flags_are_decided_as_by_the_original(vector: dict[str, Any]) -> None:
    asked = vector["input"]
    definitions = {d.flag_name: d for d in map(definition_of, asked["rows"] or []) if d}
    name = normalize_flag_name(asked["flagName"])
    fallback = bool(asked["options"].get("fallback", False))
    if not name:
        assert vector["output"] == fallback
    elif name in definitions:
        subject = asked["options"].get("subjectKey", "")
        assert evaluate(definitions[name], subject).value == vector["output"]
    else:
        environment = vector.get("env", {})
        assert evaluate_missing(name, environment, fallback=fallback).value == vector["output"]


@given(low=percents, high=percents, key=st.text(max_size=40))
def test_raising_the_percentage_only_adds_subjects(low: int, high: int, key: str) -> None:
    low, high = sorted((low, high))
    assert evaluate(flag_at(low), key).value <= evaluate(flag_at(high), key).value


@given(st.text(max_size=60))
def test_a_bucket_is_a_number_below_a_hundred_for_any_text(key: str) -> None:
    assert 0 <= cohort_bucket(key) < 100


@given(st.text(max_size=200))
def test_normalising_a_name_twice_changes_nothing(name: str) -> None:
    once = normalize_flag_name(name)
    assert normalize_flag_name(once) == once


def test_a_share_of_subjects_is_what_the_percentage_says() -> None:
    hits = sum(evaluate(flag_at(30), f"user-{number}").value for number in range(100_000))
    assert 29_000 < hits < 31_000


def test_the_reason_tells_what_decided() -> None:
    assert evaluate(FlagDefinition("f", is_enabled=False, rollout_percent=100)).reason == (
        Reason.DISABLED
    )
    assert evaluate(flag_at(100)).reason == Reason.STATIC
    split = evaluate(flag_at(50), "abc")
    assert (split.reason, split.bucket) == (Reason.SPLIT, cohort_bucket("abc"))
