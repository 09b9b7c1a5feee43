"""What a real API server answered, scenario by scenario."""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "data" / "kube"


def recording(name: str) -> dict[str, Any]:
    """A whole file, with every body that repeats another filled in."""
    document: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    exchanges = document.get("exchanges", [])
    for exchange in exchanges:
        for side in ("request", "response"):
            if "bodySameAs" in exchange[side]:
                exchange[side]["body"] = exchanges[exchange[side]["bodySameAs"]][side]["body"]
    return document
