"""What a comparison says: per object an action, and the changes with their paths."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple

Path = tuple[str, ...]

# Stands for a secret value; equal marks do not mean equal values.
MASK: Final = "••••••"


class ObjectKey(NamedTuple):
    """What tells objects apart in a cluster; the version of an API group does not."""

    group: str
    kind: str
    namespace: str
    name: str


class ChangeKind(StrEnum):
    """What happens to one field."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"  # ours, and no longer wanted: the next apply takes it away
    FOREIGN = "foreign"  # set by somebody else: an apply leaves it alone


class Action(StrEnum):
    """What an apply does with a whole object."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Change:
    """One field that differs; list items appear in the path by key, as `containers[central]`."""

    kind: ChangeKind
    path: Path
    desired: Any = None
    live: Any = None

    @property
    def dotted_path(self) -> str:
        """The path as people write it."""
        text = ""
        for part in self.path:
            is_item = part.startswith("[")
            name = f'["{part}"]' if "." in part and not is_item else part
            text += name if is_item or name.startswith("[") or not text else f".{name}"
        return text


@dataclass(frozen=True, slots=True)
class ObjectDiff:
    """All differences of one object; foreign ones alone ask for nothing."""

    key: ObjectKey
    action: Action
    changes: tuple[Change, ...] = ()

    @property
    def needs_apply(self) -> bool:
        """True when the cluster does not yet hold what is wanted."""
        return self.action is not Action.UNCHANGED

    @property
    def foreign(self) -> tuple[Change, ...]:
        """What others have set on the object."""
        return tuple(change for change in self.changes if change.kind is ChangeKind.FOREIGN)


def object_key(manifest: Mapping[str, Any]) -> ObjectKey:
    """The key of a manifest or a live object."""
    group, slash, _version = str(manifest.get("apiVersion", "")).rpartition("/")
    metadata = manifest.get("metadata") or {}
    return ObjectKey(
        group if slash else "",
        str(manifest.get("kind", "")),
        str(metadata.get("namespace") or ""),
        str(metadata.get("name", "")),
    )
