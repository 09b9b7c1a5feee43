"""Server-side apply and the ownership that other writes leave behind; pure functions."""

import copy
from dataclasses import dataclass
from typing import Any

from . import fields
from .fields import Fields
from .kinds import Kind
from .statuses import RefusedError

Object = dict[str, Any]
_COMPARED_AWAY = {"managedFields", "resourceVersion", "generation", "uid", "creationTimestamp"}


@dataclass(frozen=True, slots=True)
class Manager:
    """Who writes: the key of one entry of managedFields."""

    name: str
    operation: str = "Apply"
    subresource: str = ""

    def describe(self, api_version: str) -> str:
        """The manager as conflicts name it."""
        text = f'"{self.name}"'
        if self.subresource:
            text += f' with subresource "{self.subresource}"'
        return text + (f" using {api_version}" if self.operation == "Update" else "")


def managers_of(live: Object | None) -> dict[Manager, Fields]:
    """The field set of each manager of an object."""
    entries = (live or {}).get("metadata", {}).get("managedFields", [])
    return {
        Manager(e["manager"], e["operation"], e.get("subresource", "")): e["fieldsV1"]
        for e in entries
    }


def apply(
    kind: Kind, live: Object | None, wanted: Object, *, manager: str, is_forced: bool
) -> tuple[Object, dict[Manager, Fields]]:
    """Merge a configuration into the live object. Raises RefusedError with 409 on conflicts."""
    me = Manager(manager)
    owned = managers_of(live)
    named = fields.named_by(wanted, has_status=kind.has_status)
    before = copy.deepcopy(live or {})
    merged = _merge(before, _applicable(kind, wanted))
    conflicts = _conflicts(kind, before, merged, owned, me, named)
    if conflicts and not is_forced:
        raise _conflict(kind, conflicts)
    for other, paths in conflicts.items():
        owned[other] = fields.without(owned[other], fields.from_leaves(paths))
    merged = _prune(merged, owned, me, named)
    owned[me] = named
    return merged, {manager: held for manager, held in owned.items() if held}


def _applicable(kind: Kind, wanted: Object) -> Object:
    kept = {k: v for k, v in wanted.items() if not (k == "status" and kind.has_status)}
    ignored = _COMPARED_AWAY
    kept["metadata"] = {k: v for k, v in wanted["metadata"].items() if k not in ignored}
    return kept


def _merge(live: Any, wanted: Any, name: str = "") -> Any:
    """The configuration over the live value: maps and keyed lists merge, the rest is replaced."""
    if isinstance(live, dict) and isinstance(wanted, dict) and name not in fields._ATOMIC_MAPS:
        both = dict(live)
        for key, value in wanted.items():
            both[key] = _merge(live.get(key), value, key)
        return both
    if isinstance(live, list) and isinstance(wanted, list):
        if name == "finalizers":
            return live + [item for item in wanted if item not in live]
        if keys := fields.list_keys(name, wanted):
            return _merge_items(live, wanted, keys)
    return copy.deepcopy(wanted)


def _merge_items(live: list[Any], wanted: list[Any], keys: tuple[str, ...]) -> list[Any]:
    present = {fields.item_key(item, keys): item for item in live}
    asked = {fields.item_key(item, keys): item for item in wanted}
    kept = [item for key, item in present.items() if key not in asked]
    return [_merge(present.get(key, {}), item) for key, item in asked.items()] + kept


def _conflicts(
    kind: Kind,
    before: Object,
    merged: Object,
    owned: dict[Manager, Fields],
    me: Manager,
    named: Fields,
) -> dict[Manager, list[tuple[str, ...]]]:
    mine = set(fields.leaves(named))
    changed = [path for path in fields.leaves(fields.changed(before, merged)) if path in mine]
    found: dict[Manager, list[tuple[str, ...]]] = {}
    for other, held in owned.items():
        both = set(fields.leaves(held)).intersection(changed)
        if other != me and both:
            found[other] = sorted(both)
    return found


def _conflict(kind: Kind, conflicts: dict[Manager, list[tuple[str, ...]]]) -> RefusedError:
    rows = sorted(
        (p, o.describe(kind.api_version)) for o, paths in conflicts.items() for p in paths
    )
    causes = [
        {
            "reason": "FieldManagerConflict",
            "message": f"conflict with {who}",
            "field": fields.readable(path),
        }
        for path, who in rows
    ]
    message = _conflict_message([(who, fields.readable(path)) for path, who in rows])
    return RefusedError(409, message, details={"causes": causes})


def _conflict_message(rows: list[tuple[str, str]]) -> str:
    if len(rows) == 1:
        return f"Apply failed with 1 conflict: conflict with {rows[0][0]}: {rows[0][1]}"
    text = f"Apply failed with {len(rows)} conflicts: "
    groups = []
    for who in sorted({who for who, _ in rows}):
        lines = "".join(f"\n- {path}" for other, path in rows if other == who)
        groups.append(f"conflicts with {who}:{lines}")
    return text + "\n".join(groups)


def _prune(merged: Object, owned: dict[Manager, Fields], me: Manager, named: Fields) -> Object:
    """Take away what only we owned and no longer name; a map stays while somebody is in it."""
    others = [path for other, held in owned.items() if other != me for path in fields.leaves(held)]
    kept = {*fields.leaves(named), *others}
    inhabited = {path[:length] for path in kept for length in range(1, len(path) + 1)}
    dropped = [
        path
        for path in fields.leaves(owned.get(me, {}))
        if path not in inhabited and not _is_map_itself(path)
    ]
    pruned: Object = fields.remove(merged, fields.from_leaves(dropped))
    return pruned | {"metadata": pruned.get("metadata", {})}


def _is_map_itself(path: tuple[str, ...]) -> bool:
    return path[-1] == "." and path[-2].startswith("f:")


def update(
    live: Object | None, new: Object, owned: dict[Manager, Fields], me: Manager
) -> dict[Manager, Fields]:
    """Who owns what after a write that is not an apply: the writer takes what it changed."""
    before, after = _compared(live or _blank(new)), _compared(new)
    taken = fields.changed(before, after)
    gone = fields.without(fields.named_by(before, has_status=False), _everything(after))
    held = {}
    for manager, mine in owned.items():
        kept = fields.without(mine, gone)
        held[manager] = kept if manager == me else fields.without(kept, taken)
    held[me] = fields.union(held.get(me, {}), taken)
    return {manager: mine for manager, mine in held.items() if mine}


def _everything(value: Object) -> Fields:
    return fields.named_by(value, has_status=False)


def _compared(value: Object) -> Object:
    kept = {k: v for k, v in value.items() if k not in {"kind", "apiVersion", "metadata", "status"}}
    skipped = _COMPARED_AWAY | {"name", "namespace"}
    metadata = {k: v for k, v in value.get("metadata", {}).items() if k not in skipped}
    return kept | {"metadata": metadata}


def _blank(new: Object) -> Object:
    """The object before its creation: structs that are never absent are there, but empty."""
    pod: Object = {"containers": []}
    if new.get("kind") == "Deployment":
        return {"spec": {"strategy": {}, "template": {"metadata": {}, "spec": pod}}}
    return {"spec": {}} if "spec" in new else {}
