"""The stored values of the original, with its JavaScript values turned into Python's."""

import json
from pathlib import Path
from typing import Any

VECTORS = json.loads((Path(__file__).parent.parent / "data" / "whatsapp_vectors.json").read_text())[
    "vectors"
]
UNDEFINED = {"$js": "undefined"}


def plain(value: Any) -> Any:
    """JavaScript's undefined as None, everywhere inside the value."""
    if value == UNDEFINED:
        return None
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def vectors(*groups: str, fn: str = "") -> list[dict[str, Any]]:
    """The vectors of some groups, only those of one function when it is named."""
    rows = [plain(row) for group in groups for row in VECTORS[group]]
    return [row for row in rows if row["fn"].endswith(fn)]


def named(row: dict[str, Any]) -> str:
    """A short test id."""
    return f"{row['fn'].rsplit('.', 1)[-1]}-{json.dumps(row['input'])[:60]}"
