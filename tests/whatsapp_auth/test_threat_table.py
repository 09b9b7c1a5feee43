"""The threat table names tests that exist, and every known fault has a test of its name."""

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "security-identity.md"
SOURCES = {path.name: path.read_text() for path in HERE.glob("test_*.py")}
PROOF = re.compile(r"`(?:(test_\w+\.py)|…)(?:::(test_\w+?)(_…)?)?`")
FAULTS = [*(f"i{number}" for number in range(1, 12)), *(f"l{number}" for number in range(1, 10))]


def proofs():
    """Each (file, test) that the page names; `…` repeats the file before it."""
    file = ""
    for match in PROOF.finditer(PAGE.read_text()):
        file = match[1] or file
        yield file, match[2] or ""


@pytest.mark.parametrize(("file", "test"), sorted(set(proofs())))
def test_every_proof_exists(file, test):
    assert f"def {test}" in SOURCES[file]


@pytest.mark.parametrize("fault", FAULTS)
def test_every_known_fault_has_a_test_of_its_name(fault):
    assert any(f"def test_{fault}_" in source for source in SOURCES.values())
