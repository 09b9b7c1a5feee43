"""Every fault that is known of the original has a test of its name: `test_e1_…`, `test_q4_…`.

The faults are those of docs/defects.md, one line each.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/defects.md").read_text()
SOURCES = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
# A name may carry several: `test_w2_w3_…`.
NAMED = {
    fault
    for names in re.findall(r"def test_((?:[a-z]\d+_)+)", SOURCES)
    for fault in names.strip("_").split("_")
}
COUNTS = {"E": 10, "Q": 9, "W": 10, "S": 8, "C": 4, "I": 11, "L": 9, "O": 6, "P": 7}
FAULTS = [f"{letter}{number}" for letter, last in COUNTS.items() for number in range(1, last + 1)]


@pytest.mark.parametrize("fault", FAULTS)
def test_every_known_fault_has_a_line_and_a_test(fault: str) -> None:
    assert f"| {fault} |" in PAGE
    assert fault.lower() in NAMED
