"""The entries of `metadata.managedFields`: who owns what since when, in the server's order."""

from typing import Any

from . import apply
from .apply import Manager
from .kinds import Kind
from .store import timestamp

Object = dict[str, Any]
_ORDER = {"Apply": 0, "Update": 1}


def set_managers(
    kind: Kind,
    live: Object | None,
    new: Object,
    owned: dict[Manager, Any],
    writer: Manager,
    *,
    is_same: bool,
) -> None:
    """Write the entries into the new object; what did not change keeps its time."""
    held, times = apply.managers_of(live), _times(live)
    if live is not None and "managedFields" not in live["metadata"] and owned:
        owned = _with_former_owner(live, owned, writer)
    entries = []
    for manager, mine in owned.items():
        is_kept = manager in times and (is_same or manager != writer) and held[manager] == mine
        entries.append(_entry(kind, manager, mine, times[manager] if is_kept else timestamp()))
    if entries:
        entries.sort(key=lambda e: (_ORDER[e["operation"]], e["time"], e["manager"]))
        new["metadata"]["managedFields"] = entries


def _times(live: Object | None) -> dict[Manager, str]:
    entries = (live or {}).get("metadata", {}).get("managedFields", [])
    return {
        Manager(e["manager"], e["operation"], e.get("subresource", "")): e["time"] for e in entries
    }


def _entry(kind: Kind, manager: Manager, mine: Any, time: str) -> Object:
    entry = {
        "manager": manager.name,
        "operation": manager.operation,
        "apiVersion": kind.api_version,
        "time": time,
        "fieldsType": "FieldsV1",
        "fieldsV1": mine,
    }
    return entry | ({"subresource": manager.subresource} if manager.subresource else {})


def _with_former_owner(
    live: Object, owned: dict[Manager, Any], writer: Manager
) -> dict[Manager, Any]:
    """The first apply to an object without owners notes who had it before."""
    if writer.operation != "Apply":
        return owned
    former = Manager("before-first-apply", "Update")
    return owned | apply.update(None, live, {}, former)
