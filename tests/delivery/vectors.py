"""Values computed by running the original functions, by function name."""

import json
from pathlib import Path
from typing import Any

VECTORS = json.loads((Path(__file__).parents[1] / "data" / "oon.json").read_text())["vectors"]


def vectors(function_name: str) -> list[dict[str, Any]]:
    """The cases of one function; a case with `error` raised in the original."""
    return [case for case in VECTORS if case["fn"] == function_name]
