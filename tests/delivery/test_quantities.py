"""Quantities as a real API server reads and stores them."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.delivery.errors import InvalidQuantity
from apps.delivery.quantities import (
    canonical_quantity,
    cpu_quantity,
    is_same_quantity,
    memory_quantity,
    parse_quantity,
)

RECORDING = Path(__file__).parents[1] / "data" / "kube" / "17-quantities.json"
ROWS = json.loads(RECORDING.read_text())["table"]["rows"]
SUFFIXES = ["", "m", "k", "M", "G", "Ki", "Mi", "Gi", "e3"]
quantities = st.builds("{}{}".format, st.integers(0, 10**6), st.sampled_from(SUFFIXES))


@pytest.mark.parametrize(("resource", "written", "stored"), ROWS)
def test_the_stored_form_equals_the_recorded_one(resource, written, stored):
    if stored.startswith("500 "):
        with pytest.raises(InvalidQuantity):
            canonical_quantity(written)
    else:
        assert canonical_quantity(written) == stored
        assert is_same_quantity(written, stored)


@pytest.mark.parametrize("text", ["1Gib", "", "m", "1 ", "1e3m", "0x1", "١", "1,5", "1\n", True])
def test_other_text_is_refused(text):
    with pytest.raises(InvalidQuantity):
        parse_quantity(text)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2000m", "2", True),
        ("2048Mi", "2Gi", True),
        ("1000M", "1G", True),
        (2, "2", True),
        ("0.1", "100m", True),
        ("1G", "1Gi", False),
        ("100m", "100", False),
        ("nope", "nope", True),
        ("nope", "1", False),
    ],
)
def test_amounts_are_compared_by_value(one, other, same):
    assert is_same_quantity(one, other) is same


@given(quantities)
def test_the_canonical_form_keeps_the_amount_and_stays(text):
    canonical = canonical_quantity(text)
    assert parse_quantity(canonical) == parse_quantity(text)
    assert canonical_quantity(canonical) == canonical


@given(st.integers(0, 10**6 - 1))
def test_computed_amounts_are_canonical(amount):
    assert canonical_quantity(cpu_quantity(amount)) == cpu_quantity(amount)
    assert canonical_quantity(memory_quantity(amount)) == memory_quantity(amount)
    assert parse_quantity(cpu_quantity(amount)) == Fraction(amount, 1000)
    assert parse_quantity(memory_quantity(amount)) == amount * 2**20
