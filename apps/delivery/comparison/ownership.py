"""Which fields of a live object a manager owns, read from its managedFields."""

import json
from collections.abc import Mapping
from typing import Any

from apps.delivery.comparison.fields import item_identity

# A node of FieldsV1: `f:name` for fields, `k:{...}` for list items, empty for a leaf.
Owned = Mapping[str, Any]


def owned_fields(live: Mapping[str, Any], manager: str) -> Owned:
    """What the manager has applied; empty when the object does not tell."""
    for entry in (live.get("metadata") or {}).get("managedFields") or ():
        is_ours = entry.get("manager") == manager and entry.get("operation") == "Apply"
        if is_ours and not entry.get("subresource"):
            fields: Owned = entry.get("fieldsV1") or {}
            return fields
    return {}


def owned_field(owned: Owned | None, name: str) -> Owned | None:
    """The node of a field, or None where the manager does not own it."""
    return None if owned is None else owned.get(f"f:{name}")


def owned_item(
    owned: Owned | None, identity: tuple[str, ...], keys: tuple[str, ...]
) -> Owned | None:
    """The node of a list item, or None where the manager does not own it."""
    for name, node in (owned or {}).items():
        if name.startswith("k:") and item_identity(json.loads(name[2:]), keys) == identity:
            found: Owned = node
            return found
    return None
