"""Taking over the fields of client-side appliers; pure, on the form of `managedFields`.

An object made by `kubectl apply` belongs to a manager with operation Update. Server-side apply
then owns its fields a second time, so a field that is later left out stays for ever. Kubectl's own
migration merges the old entry into the new one; so does this.
"""

import copy
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

CLIENT_SIDE_MANAGERS = frozenset({"kubectl-client-side-apply", "before-first-apply"})

Entry = dict[str, Any]


def adopt(
    live: Mapping[str, Any], manager: str, former: AbstractSet[str] = CLIENT_SIDE_MANAGERS
) -> list[Entry] | None:
    """The managedFields in which `manager` holds what the former managers held; None if nothing.

    Only entries with operation Update and without a subresource are taken: status and scale stay
    with their controllers.
    """
    entries = copy.deepcopy(live["metadata"].get("managedFields") or [])
    taken = [entry for entry in entries if _is_former(entry, former)]
    if not taken:
        return None
    kept = [entry for entry in entries if entry not in taken]
    mine = next((e for e in kept if e["manager"] == manager and e["operation"] == "Apply"), None)
    if mine is None:
        mine = copy.deepcopy(taken[0]) | {"manager": manager, "operation": "Apply"}
        kept.append(mine)
    for entry in taken:
        mine["fieldsV1"] = merge_fields(mine["fieldsV1"], entry["fieldsV1"])
    return kept


def as_adopted(live: Mapping[str, Any], manager: str) -> Mapping[str, Any]:
    """The object as it will be once its client-side fields have been taken over."""
    entries = adopt(live, manager)
    if entries is None:
        return live
    return {**live, "metadata": {**live["metadata"], "managedFields": entries}}


def merge_fields(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    """Everything in either field set."""
    both: dict[str, Any] = dict(left)
    for key, inner in right.items():
        both[key] = merge_fields(both[key], inner) if key in both else inner
    return both


def is_client_side(live: Mapping[str, Any]) -> bool:
    """Whether a client-side applier still owns fields of the object."""
    entries = live["metadata"].get("managedFields") or []
    return any(_is_former(entry, CLIENT_SIDE_MANAGERS) for entry in entries)


def _is_former(entry: Mapping[str, Any], former: AbstractSet[str]) -> bool:
    is_update = entry["operation"] == "Update" and not entry.get("subresource")
    return is_update and entry["manager"] in former
