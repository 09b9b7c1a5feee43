"""Refusals before validation: apply answers 500 for what does not fit the schema."""

import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate

from . import fields, quantities
from .kinds import Kind
from .statuses import RefusedError

_SCHEMAS = Path(kubernetes_validate.__file__).parent / "kubernetes-json-schema/v1.36.0-local-strict"
_AMOUNTS = {"limits", "requests", "hard", "max", "min", "default", "defaultRequest"}
_QUANTITY_FORM = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$"


@functools.cache
def _document(name: str) -> dict[str, Any]:
    path = _SCHEMAS / name
    return json.loads(path.read_text()) if path.exists() else {}


def check(kind: Kind, wanted: dict[str, Any]) -> None:
    """Refuse, with 500, unknown fields, wrong types, repeated keys and bad quantities."""
    metadata = wanted["metadata"]
    version = kind.api_version if kind.group else f"/{kind.api_version}"
    place = f"{metadata.get('namespace', '')}/{metadata.get('name', '')}; {version}"
    faults = list(_faults(_schema_of(kind), wanted, "", ""))
    if faults:
        text = faults[0] if len(faults) == 1 else "errors:\n" + "\n".join(f"  {f}" for f in faults)
        start = f"failed to create typed patch object ({place}, Kind={kind.name})"
        raise RefusedError(500, f"{start}: {text}")
    unreadable = ""
    if any(_bad_amounts(wanted)):
        unreadable = f"quantities must match the regular expression '{_QUANTITY_FORM}'"
    elif kind.name == "Secret" and (fault_at := _bad_base64(wanted.get("data") or {})):
        unreadable = f"error decoding from json: illegal base64 data at input byte {fault_at}"
    if unreadable:
        start = f"failed to convert new object ({place}, Kind={kind.name}) to proper version"
        middle = f"unable to convert unstructured object to {version}, Kind={kind.name}"
        raise RefusedError(500, f"{start}: {middle}: {unreadable}")


def _schema_of(kind: Kind) -> dict[str, Any]:
    group = kind.group.partition(".")[0]
    return _document("-".join(filter(None, [kind.name.lower(), group, kind.version])) + ".json")


def _resolved(schema: dict[str, Any]) -> dict[str, Any]:
    reference = schema.get("$ref", "")
    if not reference:
        return schema
    definitions = _document("_definitions.json")["$defs"]
    found: dict[str, Any] = definitions[reference.rpartition("/")[2]]
    return found


def _faults(schema: dict[str, Any], value: Any, path: str, name: str) -> Iterator[str]:
    schema = _resolved(schema)
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if "array" in kinds and isinstance(value, dict):
        shown = " ".join(f"{k}:{v}" for k, v in value.items())
        yield f"{path}: expected list, got &{{map[{shown}]}}"
    elif isinstance(value, dict):
        yield from _map_faults(schema, value, path)
    elif isinstance(value, list):
        yield from _list_faults(schema, value, path, name)
    elif "string" in kinds and len(kinds) <= 2 and not isinstance(value, str | None):
        yield f"{path}: expected string, got &value.valueUnstructured{{Value:{value}}}"
    elif "integer" in kinds and "string" not in kinds and isinstance(value, str):
        yield f"{path}: expected numeric (int or float), got string"


def _map_faults(schema: dict[str, Any], value: dict[str, Any], path: str) -> Iterator[str]:
    known = schema.get("properties")
    others = schema.get("additionalProperties")
    if not known and not isinstance(others, dict):
        return
    for key, inner in value.items():
        if known and key in known:
            yield from _faults(known[key], inner, f"{path}.{key}", key)
        elif isinstance(others, dict):
            yield from _faults(others, inner, f"{path}.{key}", key)
        else:
            yield f"{path}.{key}: field not declared in schema"


def _list_faults(schema: dict[str, Any], value: list[Any], path: str, name: str) -> Iterator[str]:
    is_keyed = all(isinstance(item, dict) for item in value)
    keys = fields.list_keys(name, value) if is_keyed else None
    seen: set[str] = set()
    for index, item in enumerate(value):
        key = fields.item_key(item, keys) if keys else ""
        shown = fields.readable((key,)) if keys else f"[{index}]"
        if keys and key in seen:
            yield f"{path}: duplicate entries for key {shown}"
        seen.add(key)
        yield from _faults(schema.get("items", {}), item, path + shown, "")


def _bad_amounts(value: Any) -> Iterator[bool]:
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if key in _AMOUNTS and isinstance(inner, dict):
            yield from (_is_bad(amount) for amount in inner.values())
        elif isinstance(inner, dict | list):
            yield from _bad_amounts(inner)


def _is_bad(amount: Any) -> bool:
    try:
        quantities.value_of(amount)
    except quantities.BadQuantityError:
        return True
    return False


def _bad_base64(data: dict[str, str]) -> int | None:
    """Where the first value stops being base64; None when all are."""
    for value in data.values():
        match = re.match(r"[A-Za-z0-9+/]*={0,2}", value)
        if match and match.end() < len(value):
            return match.end()
    return None
