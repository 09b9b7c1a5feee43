"""Patches that are no apply: merge, strategic merge and JSON patch; and the plain PUT."""

import copy
from typing import Any

from . import fields
from .statuses import RefusedError

Object = dict[str, Any]
CONTENT_TYPES = {
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/json-patch+json",
    "application/json",
}


def patched(content_type: str, live: Object, body: Any) -> Object:
    """The object after the patch. Raises RefusedError with 422."""
    match content_type:
        case "application/merge-patch+json":
            return _merged(live, body, is_strategic=False)
        case "application/strategic-merge-patch+json":
            return _merged(live, body, is_strategic=True)
        case "application/json-patch+json":
            return _json_patched(live, body)
        case _:
            return copy.deepcopy(body)


def _merged(live: Any, patch: Any, *, is_strategic: bool, name: str = "") -> Any:
    if is_strategic and isinstance(patch, list) and isinstance(live, list):
        keys = fields.list_keys(name, patch)
        return _merged_items(live, patch, keys) if keys else copy.deepcopy(patch)
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    base = copy.deepcopy(live) if isinstance(live, dict) else {}
    for key, value in patch.items():
        if value is None:
            base.pop(key, None)
        else:
            base[key] = _merged(base.get(key), value, is_strategic=is_strategic, name=key)
    return base


def _merged_items(live: list[Any], patch: list[Any], keys: tuple[str, ...]) -> list[Any]:
    found = {fields.item_key(item, keys): item for item in live}
    for item in patch:
        key = fields.item_key(item, keys)
        found[key] = _merged(found.get(key), item, is_strategic=True)
    return list(found.values())


def _json_patched(live: Object, operations: list[Object]) -> Object:
    new = copy.deepcopy(live)
    for operation in operations:
        *path, last = [_unescaped(step) for step in operation["path"].split("/")[1:]]
        node: Any = new
        for step in path:
            node = node[int(step)] if isinstance(node, list) else node[step]
        _operate(node, last, operation)
    return new


def _operate(node: Any, last: str, operation: Object) -> None:
    key: Any = int(last) if isinstance(node, list) else last
    if operation["op"] == "remove":
        del node[key]
    elif operation["op"] == "test":
        if node[key] != operation["value"]:
            message = "the server rejected our request due to an error in our request"
            raise RefusedError(422, message, details={})
    else:
        node[key] = operation["value"]


def _unescaped(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")
