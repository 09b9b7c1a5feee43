"""Objects by kind and name, one version counter for all, and the log that watches read."""

import marshal
import threading
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from .kinds import Kind

Object = dict[str, Any]
Key = tuple[str, str]
_KEPT_CHANGES = 500


@dataclass(frozen=True, slots=True)
class Change:
    """One line of the log: an object before and after a write."""

    version: int
    kind: Kind
    before: Object | None
    after: Object | None


def timestamp() -> str:
    """Now, in whole seconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _copied(value: Any) -> Any:
    """A deep copy of plain data; many times faster than `copy.deepcopy`."""
    return marshal.loads(marshal.dumps(value))  # noqa: S302 - our own bytes, a moment old


class Store:
    """The state of a cluster. Every method may be called from any thread."""

    def __init__(self) -> None:
        self.changed = threading.Condition(threading.RLock())
        self.version = 10
        self.oldest = 0
        self.log: list[Change] = []
        self._objects: dict[Kind, dict[Key, Object]] = {}

    def get(self, kind: Kind, namespace: str, name: str) -> Object | None:
        """A copy of one object."""
        with self.changed:
            found = self._objects.get(kind, {}).get((namespace, name))
            return _copied(found)

    def list(self, kind: Kind, namespace: str = "") -> "list[Object]":
        """Copies of all objects of a kind, by namespace and name."""
        with self.changed:
            found = self._objects.get(kind, {})
            chosen = sorted(key for key in found if namespace in {"", key[0]})
            return [_copied(found[key]) for key in chosen]

    def put(self, kind: Kind, new: Object) -> Object:
        """Store an object under the next version; what becomes of it is logged."""
        with self.changed:
            metadata = new["metadata"]
            key = (metadata.get("namespace", ""), metadata["name"])
            before = self._objects.setdefault(kind, {}).get(key)
            metadata.setdefault("uid", str(uuid.uuid4()))
            metadata.setdefault("creationTimestamp", timestamp())
            self._stamp(new)
            self._objects[kind][key] = _copied(new)
            self._record(kind, before, self._objects[kind][key])
            return new

    def delete(self, kind: Kind, namespace: str, name: str) -> Object | None:
        """Take an object out; None when it is not there."""
        with self.changed:
            gone = self._objects.get(kind, {}).pop((namespace, name), None)
            if gone is None:
                return None
            last = _copied(gone)
            self._stamp(last)
            self._record(kind, last, None)
            return last

    def change(
        self, kind: Kind, namespace: str, name: str, edit: Callable[[Object], None]
    ) -> Object | None:
        """Edit one object in place under the lock; writes only when something changed."""
        with self.changed:
            present = self.get(kind, namespace, name)
            if present is None:
                return None
            new = _copied(present)
            edit(new)
            return self.put(kind, new) if new != present else present

    def compact(self) -> None:
        """Forget all history: what is older than now answers 410 from here on."""
        with self.changed:
            self.oldest = self.version
            self.log.clear()
            self.changed.notify_all()

    def since(self, version: int) -> "list[Change]":
        """What was logged after a version."""
        with self.changed:
            return [change for change in self.log if change.version > version]

    def owned_by(self, kind: Kind, owner: Object) -> Iterable[Object]:
        """Objects with an owner reference to this one."""
        uid = owner["metadata"]["uid"]
        for candidate in self.list(kind, owner["metadata"]["namespace"]):
            references = candidate["metadata"].get("ownerReferences", [])
            if any(reference["uid"] == uid for reference in references):
                yield candidate

    def _stamp(self, new: Object) -> None:
        self.version += 1
        new["metadata"]["resourceVersion"] = str(self.version)

    def _record(self, kind: Kind, before: Object | None, after: Object | None) -> None:
        self.log.append(Change(self.version, kind, before, after))
        if len(self.log) > 2 * _KEPT_CHANGES:
            del self.log[:-_KEPT_CHANGES]
            self.oldest = self.log[0].version - 1
        self.changed.notify_all()
