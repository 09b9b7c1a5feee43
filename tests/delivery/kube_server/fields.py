"""Field sets (FieldsV1): what a configuration names, how sets combine, what they remove.

A set is the wire form itself: nested dicts with the keys `f:name`, `k:{keys}`, `v:value` and `.`
for "the item itself"; an empty dict is a leaf.
"""

import json
from collections.abc import Iterator
from typing import Any

Fields = dict[str, Any]

_KEYED: dict[str, tuple[str, ...]] = {
    "containers": ("name",),
    "initContainers": ("name",),
    "env": ("name",),
    "volumes": ("name",),
    "imagePullSecrets": ("name",),
    "volumeMounts": ("mountPath",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "conditions": ("type",),
}
_ATOMIC_ITEMS = {"imagePullSecrets"}
_ATOMIC_MAPS = {
    "selector", "podSelector", "labelSelector", "namespaceSelector", "secretKeyRef",
    "configMapKeyRef", "fieldRef", "port",
}  # fmt: skip
_SYSTEM_METADATA = {
    "name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp",
    "managedFields", "deletionTimestamp", "deletionGracePeriodSeconds",
}  # fmt: skip


def list_keys(name: str, items: list[Any]) -> tuple[str, ...] | None:
    """The keys of a keyed list; None for an atomic one."""
    if name == "ports" and items and all(isinstance(item, dict) for item in items):
        return ("containerPort" if "containerPort" in items[0] else "port", "protocol")
    return _KEYED.get(name)


def item_key(item: dict[str, Any], keys: tuple[str, ...]) -> str:
    """The `k:{…}` element of one item; a port without protocol is TCP."""
    named = {k: item.get(k, "TCP" if k == "protocol" else None) for k in sorted(keys)}
    return "k:" + json.dumps(named, separators=(",", ":"), sort_keys=True)


def named_by(configuration: dict[str, Any], *, has_status: bool) -> Fields:
    """The fields that an applied configuration names."""
    skipped = {"apiVersion", "kind"} | ({"status"} if has_status else set())
    found: Fields = {}
    for key, value in configuration.items():
        if key in skipped:
            continue
        if key == "metadata":
            kept = {k: v for k, v in value.items() if k not in _SYSTEM_METADATA and v is not None}
            if inner := _of_map(kept, "metadata"):
                found["f:metadata"] = inner
        elif value is not None:
            found[f"f:{key}"] = _of_value(key, value)
    return found


def _of_map(value: dict[str, Any], _name: str) -> Fields:
    return {f"f:{k}": _of_value(k, v) for k, v in value.items() if v is not None}


def _of_value(name: str, value: Any) -> Fields:
    if isinstance(value, dict) and name not in _ATOMIC_MAPS:
        return _of_map(value, name)
    if name == "finalizers" and isinstance(value, list):
        return {"v:" + json.dumps(item): {} for item in value}
    if isinstance(value, list) and (keys := list_keys(name, value)):
        return {item_key(item, keys): _of_item(name, item) for item in value}
    return {}


def _of_item(name: str, item: dict[str, Any]) -> Fields:
    return {} if name in _ATOMIC_ITEMS else {".": {}, **_of_map(item, name)}


def union(left: Fields, right: Fields) -> Fields:
    """Everything in either set."""
    both = dict(left)
    for key, inner in right.items():
        both[key] = union(both[key], inner) if key in both else inner
    return both


def leaves(fields: Fields, prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of a set."""
    for key, inner in fields.items():
        if inner:
            yield from leaves(inner, (*prefix, key))
        else:
            yield (*prefix, key)


def from_leaves(paths: list[tuple[str, ...]]) -> Fields:
    """The set with these paths."""
    built: Fields = {}
    for path in paths:
        node = built
        for element in path:
            node = node.setdefault(element, {})
    return _collapsed(built)


def _collapsed(fields: Fields) -> Fields:
    """A field that holds nothing but itself is a leaf; list items keep their `.`."""
    return {
        key: {} if key.startswith("f:") and list(inner) == ["."] else _collapsed(inner)
        for key, inner in fields.items()
    }


def without(fields: Fields, removed: Fields) -> Fields:
    """The paths that are not in the other set."""
    gone = set(leaves(removed))
    return from_leaves([path for path in leaves(fields) if path not in gone])


def readable(path: tuple[str, ...]) -> str:
    """The path as conflicts name it: `.spec.containers[name="central"].image`."""
    text = ""
    for element in path:
        if element.startswith("f:"):
            text += f".{element[2:]}"
        elif element.startswith("k:"):
            keys = json.loads(element[2:])
            text += "[" + ",".join(f"{k}={json.dumps(v)}" for k, v in keys.items()) + "]"
        elif element.startswith("v:"):
            text += f"[={element[2:]}]"
    return text


def changed(old: dict[str, Any], new: dict[str, Any]) -> Fields:
    """The fields added or modified from one map to another."""
    found: Fields = {}
    for key, value in new.items():
        if key not in old:
            found[f"f:{key}"] = _added(key, value)
        elif value != old[key]:
            found[f"f:{key}"] = _change_of(key, old[key], value)
    return found


def _change_of(name: str, old: Any, new: Any) -> Fields:
    if isinstance(old, dict) and isinstance(new, dict) and name not in _ATOMIC_MAPS:
        return changed(old, new)
    keys = list_keys(name, new) if isinstance(new, list) else None
    if not keys or not isinstance(old, list) or name in _ATOMIC_ITEMS:
        return {}
    before = {item_key(item, keys): item for item in old}
    return {
        key: changed(before[key], item) if key in before else _added_item(name, item)
        for item in new
        if before.get(key := item_key(item, keys)) != item
    }


def _added(name: str, value: Any) -> Fields:
    if isinstance(value, dict) and value and name not in _ATOMIC_MAPS:
        return {".": {}} | {f"f:{k}": _added(k, v) for k, v in value.items()}
    keys = list_keys(name, value) if isinstance(value, list) else None
    if keys:
        return {".": {}} | {item_key(item, keys): _added_item(name, item) for item in value}
    return _of_value(name, value)


def _added_item(name: str, item: dict[str, Any]) -> Fields:
    if name in _ATOMIC_ITEMS:
        return {}
    return {".": {}} | {f"f:{k}": _added(k, v) for k, v in item.items()}


def remove(value: Any, fields: Fields, name: str = "") -> Any:
    """The object without these fields; maps that become empty go too."""
    if isinstance(value, list):
        return _remove_items(value, fields, name)
    kept = dict(value)
    for element, inner in fields.items():
        key = element[2:]
        if not element.startswith("f:") or key not in kept:
            continue
        if inner and isinstance(kept[key], dict | list):
            kept[key] = remove(kept[key], inner, key)
            if not kept[key]:
                del kept[key]
        else:
            del kept[key]
    return kept


def _remove_items(items: list[Any], fields: Fields, name: str) -> list[Any]:
    if name == "finalizers":
        return [item for item in items if "v:" + json.dumps(item) not in fields]
    keys = list_keys(name, items)
    if not keys:
        return items
    kept = []
    for item in items:
        inner = fields.get(item_key(item, keys))
        if inner is None:
            kept.append(item)
        elif inner and "." not in inner:
            kept.append(remove(item, inner))
    return kept
