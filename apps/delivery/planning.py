"""What a deployment would do to a cluster: creations, changes and deletions; pure.

A plan is made from the objects an app should have, those it has, and how they differ. It holds no
secret values, and a fingerprint binds it to what was seen.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from apps.delivery.comparison import Action, ChangeKind, ObjectDiff
from apps.delivery.errors import EmptyRender
from apps.delivery.kube.resources import ObjectKey, key_of

Object = Mapping[str, Any]

# What others refer to comes first: the namespace, then limits and policies, then what pods mount.
APPLY_ORDER: Final = (
    "Namespace",
    "ServiceAccount",
    "LimitRange",
    "ResourceQuota",
    "NetworkPolicy",
    "Secret",
    "Service",
    "PodDisruptionBudget",
    "Deployment",
    "Ingress",
)
# Pruning looks at these kinds alone. A namespace is never deleted, and neither are secrets by
# label: those of certificates go with their Ingress, all others hold what cannot be made anew.
PRUNED_KINDS: Final = (
    "Ingress",
    "Service",
    "PodDisruptionBudget",
    "NetworkPolicy",
    "Deployment",
    "LimitRange",
    "ResourceQuota",
    "ServiceAccount",
)
_VOLATILE_METADATA: Final = frozenset(
    {"resourceVersion", "generation", "managedFields", "creationTimestamp"}
)
_CONTROLLER_ANNOTATION: Final = "deployment.kubernetes.io/"


@dataclass(frozen=True, slots=True)
class Difference:
    """One field before and after; None stands for absent, secret values are masked."""

    path: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """One object and what happens to it; `problems` keep it from being applied."""

    key: ObjectKey
    action: Action
    differences: tuple[Difference, ...] = ()
    problems: tuple[str, ...] = ()
    conflicts: tuple[tuple[str, str], ...] = ()
    uid: str = ""

    def as_json(self) -> dict[str, Any]:
        """The form in which a plan keeps it."""
        return {
            "kind": self.key.kind,
            "namespace": self.key.namespace,
            "name": self.key.name,
            "action": self.action.value,
            "differences": [[d.path, d.before, d.after] for d in self.differences],
            "problems": list(self.problems),
            "conflicts": [list(conflict) for conflict in self.conflicts],
            "uid": self.uid,
        }


def change_from_json(stored: Mapping[str, Any]) -> PlannedChange:
    """The change that `as_json` wrote."""
    return PlannedChange(
        key=ObjectKey(stored["kind"], stored["namespace"], stored["name"]),
        action=Action(stored["action"]),
        differences=tuple(Difference(*row) for row in stored["differences"]),
        problems=tuple(stored["problems"]),
        conflicts=tuple((manager, path) for manager, path in stored["conflicts"]),
        uid=stored["uid"],
    )


@dataclass(frozen=True, slots=True)
class Plan:
    """All changes, in the order in which they happen, and what they were worked out from."""

    changes: tuple[PlannedChange, ...] = field(default=())
    fingerprint: str = ""

    def count(self, action: Action) -> int:
        """How many objects the action touches."""
        return sum(change.action == action for change in self.changes)

    @property
    def is_empty(self) -> bool:
        """Whether nothing would change."""
        return self.count(Action.UNCHANGED) == len(self.changes)

    @property
    def problems(self) -> list[str]:
        """Everything that keeps the plan from being applied."""
        return [f"{c.key.short}: {problem}" for c in self.changes for problem in c.problems]


def planned(key: ObjectKey, diff: ObjectDiff) -> PlannedChange:
    """The change that a comparison asks for; what others have set on the object stays."""
    ours = [change for change in diff.changes if change.kind is not ChangeKind.FOREIGN]
    shown = tuple(Difference(c.dotted_path, c.live, c.desired) for c in ours)
    is_new = diff.action is Action.CREATE
    return PlannedChange(key, diff.action, differences=() if is_new else shown)


def in_apply_order(objects: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The objects so that each finds what it refers to; equal kinds keep their order."""
    return sorted(objects, key=lambda wanted: _rank(wanted["kind"]))


def to_prune(
    desired: Sequence[Object], members: Iterable[Object], *, namespace: str
) -> list[PlannedChange]:
    """The deletions: members of the app in its namespace that are no longer wanted.

    `members` are live objects with the app's membership labels. Raises EmptyRender when nothing
    is wanted: an empty render is a fault of the renderer, never a wish to delete everything.
    """
    if not desired:
        raise EmptyRender
    wanted = {key_of(each) for each in desired}
    found = [each for each in members if _is_prunable(each, namespace)]
    gone = [each for each in found if key_of(each) not in wanted]
    deletions = [_deletion(key_of(each), each["metadata"]["uid"]) for each in gone]
    deletions += [_deletion(key) for key in _orphaned_certificates(gone, desired)]
    return sorted(deletions, key=lambda change: -_rank(change.key.kind))


def fingerprint(desired: Iterable[Object], live: Mapping[ObjectKey, Object]) -> str:
    """A digest of what is wanted and of what is there; status and versions do not count."""
    seen = {str(key): _lasting(each) for key, each in live.items()}
    wanted = {str(key_of(each)): each for each in desired}
    text = json.dumps([wanted, seen], sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _rank(kind: str) -> int:
    return APPLY_ORDER.index(kind) if kind in APPLY_ORDER else len(APPLY_ORDER)


def _is_prunable(live: Object, namespace: str) -> bool:
    metadata = live["metadata"]
    is_ours = metadata.get("namespace") == namespace and live["kind"] in PRUNED_KINDS
    return is_ours and not metadata.get("deletionTimestamp")


def _deletion(key: ObjectKey, uid: str = "") -> PlannedChange:
    return PlannedChange(key=key, action=Action.DELETE, uid=uid)


def _orphaned_certificates(gone: Iterable[Object], desired: Iterable[Object]) -> list[ObjectKey]:
    """The certificate secrets of removed ingresses that no remaining ingress names."""
    kept = {key for each in desired for key in _certificates(each)}
    found = {key for each in gone for key in _certificates(each)}
    return sorted(found - kept)


def _certificates(each: Object) -> list[ObjectKey]:
    if each["kind"] != "Ingress":
        return []
    entries = each.get("spec", {}).get("tls", ())
    home = each["metadata"].get("namespace", "")
    return [ObjectKey("Secret", home, e["secretName"]) for e in entries if e.get("secretName")]


def _lasting(live: Object) -> dict[str, Any]:
    """A live object without what the cluster itself keeps writing."""
    metadata = {k: v for k, v in live["metadata"].items() if k not in _VOLATILE_METADATA}
    notes = metadata.get("annotations", {})
    metadata["annotations"] = {
        k: v for k, v in notes.items() if not k.startswith(_CONTROLLER_ANNOTATION)
    }
    return {k: v for k, v in live.items() if k not in {"status", "metadata"}} | {
        "metadata": metadata
    }
