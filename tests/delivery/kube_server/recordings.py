"""The recorded answers of a real server, and how to compare ours with them."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parents[2] / "data" / "kube"
_OPAQUE = {"uid", "resourceVersion", "creationTimestamp", "time", "deletionTimestamp"}
_ADDRESSES = {"clusterIP", "clusterIPs"}
_CONTROLLER = "kube-controller-manager"


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what a real server answered."""

    number: int
    note: str
    trimmed: tuple[str, ...]
    request: dict[str, Any]
    response: dict[str, Any]


def exchanges(scenario: str) -> Iterator[Exchange]:
    """The exchanges of one recorded scenario, in order."""
    document = json.loads((_FOLDER / f"{scenario}.json").read_text())
    for row in document["exchanges"]:
        trimmed = tuple(row.get("trimmed") or ())
        yield Exchange(row["n"], row["note"], trimmed, row["request"], row["response"])


def exchange(scenario: str, number: int) -> Exchange:
    """One exchange by its number."""
    return next(e for e in exchanges(scenario) if e.number == number)


def document(name: str) -> dict[str, Any]:
    """A recorded file that holds no exchanges."""
    found: dict[str, Any] = json.loads((_FOLDER / f"{name}.json").read_text())
    return found


def watched(scenario: str, number: int) -> list[dict[str, Any]]:
    """The objects of a recorded watch, with the specs that were cut filled in again."""
    events = exchange(scenario, number).response["events"]
    specs: dict[str, Any] = {}
    for event in events:
        found = event["object"]
        uid = found["metadata"].get("uid", "")
        if event.get("specAsBefore"):
            found["spec"] = specs[uid]
        specs[uid] = found.get("spec")
    return [event["object"] for event in events if event["type"] != "BOOKMARK"]


def comparable(body: Any, trimmed: tuple[str, ...] = ()) -> Any:
    """A body without what differs from run to run and without what was cut."""
    if not isinstance(body, dict) or body.get("kind") == "Status":
        return _without_identity(body)
    kept = _without(body, _OPAQUE | _ADDRESSES)
    if body.get("kind") != "Namespace":
        kept.pop("status", None)
    metadata = kept.get("metadata", {})
    _without_controller(metadata)
    if "metadata.managedFields" in trimmed:
        metadata.pop("managedFields", None)
    if "spec" in trimmed:
        kept.pop("spec", None)
        metadata.pop("generation", None)
    if any("template.spec" in cut for cut in trimmed):
        kept["spec"]["template"].pop("spec", None)
    return kept


def _without_controller(metadata: dict[str, Any]) -> None:
    notes = metadata.get("annotations", {})
    for name in [n for n in notes if n.startswith("deployment.kubernetes.io/")]:
        del notes[name]
    if not notes:
        metadata.pop("annotations", None)
    if "managedFields" in metadata:
        entries = [e for e in metadata["managedFields"] if e["manager"] != _CONTROLLER]
        metadata["managedFields"] = sorted(entries, key=lambda e: (e["operation"], e["manager"]))
        if not entries:
            del metadata["managedFields"]


def _without(value: Any, names: set[str]) -> Any:
    if isinstance(value, dict):
        return {k: _without(v, names) for k, v in value.items() if k not in names}
    if isinstance(value, list):
        return [_without(item, names) for item in value]
    return value


def _without_identity(body: Any) -> Any:
    """Status bodies compare by their words; ids and versions inside them are opaque."""
    if isinstance(body, dict) and "causes" in body.get("details", {}):
        causes = sorted(body["details"]["causes"], key=json.dumps)
        body = body | {"details": body["details"] | {"causes": causes}}
    text = json.dumps(body, sort_keys=True)
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UID", text)
    text = re.sub(r"in record \(\d+\)", "in record (N)", text)
    text = re.sub(r'"continue": "[^"]*"', '"continue": "TOKEN"', text)
    return re.sub(r"resource version: 1 \(\d+\)", "resource version: 1 (N)", text)
