"""The figures of a pod's end, and the grace that the environment asks for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.delivery.shutdown import (
    DEFAULT_GRACE_MS,
    PRE_STOP_SECONDS,
    TERMINATION_GRACE_SECONDS,
    grace_ms_from_env,
    longest_grace_ms,
    pod_grace_limit_ms,
)
from tests.delivery.vectors import vectors


@pytest.mark.parametrize("case", vectors("graceFromEnv"))
def test_grace_equals_the_original(case):
    assert grace_ms_from_env(case["input"]) == case["output"]


@pytest.mark.parametrize(
    ("text", "grace_ms"),
    [
        ("0x10", 16),
        ("0b11", 3),
        (" 10\u2028", 10),
        ("+7", 7),
        ("5.", 5),
        ("2.50e1", 25),
        ("9007199254740991", 9007199254740991),
    ],
)
def test_grace_reads_numbers_as_javascript_does(text, grace_ms):
    assert grace_ms_from_env({"OON_SHUTDOWN_GRACE_MS": text}) == grace_ms


@pytest.mark.parametrize(
    "text", ["", " ", "0", "10_000", "１０", "1 0", "Infinity", "NaN", "1e999", "0x", "-0x10", "."]
)
def test_what_is_no_number_to_javascript_counts_as_not_set(text):
    assert grace_ms_from_env({"OON_SHUTDOWN_GRACE_MS": text}) == DEFAULT_GRACE_MS


@given(st.text())
def test_any_text_gives_a_positive_grace(text):
    assert grace_ms_from_env({"OON_SHUTDOWN_GRACE_MS": text}) > 0


def test_the_default_grace_fits_the_default_pod():
    limit_ms = longest_grace_ms(
        pre_stop_seconds=PRE_STOP_SECONDS, termination_grace_seconds=TERMINATION_GRACE_SECONDS
    )
    assert DEFAULT_GRACE_MS <= limit_ms == 33_000


def test_the_pod_says_how_long_a_grace_it_grants():
    env = {"OON_PRE_STOP_SECONDS": "5", "OON_TERMINATION_GRACE_SECONDS": "20"}
    assert pod_grace_limit_ms(env) == 13_000


@pytest.mark.parametrize("value", ["", "x", "-5", "1e3", "٣"])
def test_outside_a_pod_there_is_no_limit(value):
    env = {"OON_PRE_STOP_SECONDS": "5", "OON_TERMINATION_GRACE_SECONDS": value}
    assert pod_grace_limit_ms(env) is None
