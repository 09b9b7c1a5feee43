"""The walk through a desired and a live object, field by field."""

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.delivery.comparison.changes import (
    MASK,
    Action,
    Change,
    ChangeKind,
    ObjectDiff,
    Path,
    object_key,
)
from apps.delivery.comparison.fields import (
    IGNORED,
    is_quantity,
    is_server_made,
    is_set,
    item_identity,
    list_key,
    says_nothing,
)
from apps.delivery.comparison.masking import is_secret
from apps.delivery.comparison.ownership import Owned, owned_field, owned_fields, owned_item
from apps.delivery.manifests.metadata import MANAGER
from apps.delivery.quantities import is_same_quantity


def compare(
    desired: Mapping[str, Any] | None, live: Mapping[str, Any] | None, *, manager: str = MANAGER
) -> ObjectDiff:
    """The difference of one object; either side may be missing, but not both."""
    if desired is None:
        if live is None:
            raise ValueError("one side must be there")
        return ObjectDiff(object_key(live), Action.DELETE)
    walk = _Walk(str(desired.get("kind", "")))
    owned = owned_fields(live, manager) if live else {}
    found = walk.fields((), _comparable(desired), _comparable(live or {}), owned)
    changes = tuple(walk.masked(change) for change in found)
    return ObjectDiff(object_key(desired), _action(live, changes), changes)


def compare_all(
    desired: Iterable[Mapping[str, Any]],
    live: Iterable[Mapping[str, Any]],
    *,
    manager: str = MANAGER,
) -> list[ObjectDiff]:
    """Differences of many objects: the desired ones in their order, then what would be deleted."""
    left = {object_key(item): item for item in live}
    diffs = [compare(item, left.pop(object_key(item), None), manager=manager) for item in desired]
    return diffs + [compare(None, item) for item in left.values()]


def _action(live: Mapping[str, Any] | None, changes: Sequence[Change]) -> Action:
    """Foreign fields alone change nothing."""
    if live is None:
        return Action.CREATE
    is_ours = any(change.kind is not ChangeKind.FOREIGN for change in changes)
    return Action.UPDATE if is_ours else Action.UNCHANGED


def _comparable(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Without what names the object, and with a Secret's stringData as the server stores it."""
    fields = {name: manifest[name] for name in manifest if name not in ("apiVersion", "kind")}
    if manifest.get("kind") == "Secret" and fields.get("stringData"):
        encoded = {
            name: base64.b64encode(str(text).encode()).decode()
            for name, text in fields.pop("stringData").items()
        }
        fields["data"] = {**(fields.get("data") or {}), **encoded}
    return fields


@dataclass(frozen=True, slots=True)
class _Walk:
    """A comparison of two objects of one kind."""

    kind: str

    def masked(self, change: Change) -> Change:
        """The change without the values of secrets."""
        if not is_secret(self.kind, change.path):
            return change
        desired = None if change.desired is None else MASK
        live = None if change.live is None else MASK
        return Change(change.kind, change.path, desired, live)

    def fields(
        self, path: Path, desired: Mapping[str, Any], live: Mapping[str, Any], owned: Owned | None
    ) -> Iterator[Change]:
        """Compare two objects field by field; `owned` is None inside what has one owner."""
        for name, value in desired.items():
            here = (*path, name)
            if here not in IGNORED:
                yield from self.value(here, value, live.get(name), owned_field(owned, name))
        for name, value in live.items():
            here = (*path, name)
            if name in desired or here in IGNORED or is_server_made(self.kind, here, value, live):
                continue
            yield from self.only_live(here, value, owned_field(owned, name))

    def value(self, path: Path, desired: Any, live: Any, owned: Owned | None) -> Iterator[Change]:
        """Compare two values; a missing one equals an empty one."""
        if live is None:
            yield from self.only_desired(path, desired)
        elif isinstance(desired, Mapping) and isinstance(live, Mapping):
            yield from self.fields(path, desired, live, owned)
        elif isinstance(desired, list) and isinstance(live, list):
            yield from self.lists(path, desired, live, owned)
        elif not self.is_same(path, desired, live):
            yield Change(ChangeKind.CHANGED, path, desired, live)

    def lists(
        self, path: Path, desired: list[Any], live: list[Any], owned: Owned | None
    ) -> Iterator[Change]:
        """Compare two lists, by the keys of their items where they have some."""
        keys = list_key(self.kind, path)
        if keys is None:
            if not self.is_same_list(path, desired, live):
                yield Change(ChangeKind.CHANGED, path, desired, live)
            return
        wanted = {item_identity(item, keys): item for item in desired}
        present = {item_identity(item, keys): item for item in live}
        for identity, item in wanted.items():
            node = owned_item(owned, identity, keys)
            yield from self.value(_item(path, identity), item, present.get(identity), node)
        for identity, item in present.items():
            if identity not in wanted:
                node = owned_item(owned, identity, keys)
                yield self.surplus(_item(path, identity), item, node)

    def only_desired(self, path: Path, desired: Any) -> Iterator[Change]:
        """What an apply adds, down to the single fields."""
        if says_nothing(path, desired):
            return
        if isinstance(desired, Mapping) and desired:
            for name, value in desired.items():
                yield from self.only_desired((*path, name), value)
        elif isinstance(desired, list) and (keys := list_key(self.kind, path)):
            for item in desired:
                yield from self.only_desired(_item(path, item_identity(item, keys)), item)
        else:
            yield Change(ChangeKind.ADDED, path, desired=desired)

    def only_live(self, path: Path, live: Any, owned: Owned | None) -> Iterator[Change]:
        """What is there although nobody asks for it now."""
        if says_nothing(path, live):
            return
        if isinstance(live, Mapping) and live:
            yield from self.fields(path, {}, live, owned)
        elif isinstance(live, list) and list_key(self.kind, path):
            yield from self.lists(path, [], live, owned)
        else:
            yield self.surplus(path, live, owned)

    def surplus(self, path: Path, live: Any, owned: Owned | None) -> Change:
        """A field or item that only the live object has."""
        kind = ChangeKind.FOREIGN if owned is None else ChangeKind.REMOVED
        return Change(kind, path, live=live)

    def is_same_list(self, path: Path, desired: list[Any], live: list[Any]) -> bool:
        """Equal length and equal items, in any order where order says nothing."""
        if len(desired) != len(live):
            return False
        if not is_set(path):
            pairs = zip(desired, live, strict=True)
            return all(self.is_same_item(path, left, right) for left, right in pairs)
        rest = list(live)
        for item in desired:
            match = next((other for other in rest if self.is_same_item(path, item, other)), None)
            if match is None:
                return False
            rest.remove(match)
        return True

    def is_same_item(self, path: Path, desired: Any, live: Any) -> bool:
        """Equality inside a list that has one owner: whatever differs is ours to change."""
        return next(self.value((*path, "[]"), desired, live, None), None) is None

    def is_same(self, path: Path, desired: Any, live: Any) -> bool:
        """Equality of two scalars: amounts by value, all others by value and type."""
        if is_quantity(path) and not isinstance(desired, list | dict):
            return is_same_quantity(desired, live)
        return bool(desired == live) and isinstance(desired, bool) == isinstance(live, bool)


def _item(path: Path, identity: tuple[str, ...]) -> Path:
    """The path of a list item, by the first of its keys."""
    return (*path, f"[{identity[0]}]")
