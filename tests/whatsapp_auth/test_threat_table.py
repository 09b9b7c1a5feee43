"""The threat table names tests that exist."""

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "security-identity.md"
SOURCES = {path.name: path.read_text() for path in HERE.glob("test_*.py")}
PROOF = re.compile(r"`(?:(test_\w+\.py)|…)(?:::(test_\w+?)(_…)?)?`")


def proofs():
    """Each (file, test) that the page names; `…` repeats the file before it."""
    file = ""
    for match in PROOF.finditer(PAGE.read_text()):
        file = match[1] or file
        yield file, match[2] or ""


@pytest.mark.parametrize(("file", "test"), sorted(set(proofs())))
def test_every_proof_exists(file, test):
    assert f"def {test}" in SOURCES[file]
