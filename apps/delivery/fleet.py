"""All environments beside what runs in the cluster: state, health and drift; pure.

One list of each kind serves every app, so the cost does not grow with the number of apps.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from apps.delivery.comparison import Action, ChangeKind, ObjectDiff, compare
from apps.delivery.kube.resources import ObjectKey, key_of
from apps.delivery.planning import PRUNED_KINDS
from apps.delivery.rollout_state import find_reasons, read_progress

Object = Mapping[str, Any]
# The kinds that are listed: those that a render makes, once for the whole cluster.
LISTED_KINDS: Final = (
    "Namespace",
    "ServiceAccount",
    "LimitRange",
    "ResourceQuota",
    "NetworkPolicy",
    "Service",
    "PodDisruptionBudget",
    "Deployment",
    "Ingress",
)


class Health(StrEnum):
    """How an environment does, as one word."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    PROGRESSING = "progressing"
    MISSING = "missing"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class EnvironmentState:
    """One environment: its health, why, and how its objects differ from the release."""

    health: Health
    reason: str
    replicas_available: int
    replicas_wanted: int
    drift: tuple[ObjectDiff, ...] = ()
    strays: tuple[ObjectKey, ...] = ()

    @property
    def has_drifted(self) -> bool:
        """Whether an apply of the same release would change something."""
        return bool(self.drift or self.strays)


def by_namespace(objects: Iterable[Object]) -> dict[str, list[Object]]:
    """Live objects by the namespace that they are in (or are)."""
    found: dict[str, list[Object]] = {}
    for each in objects:
        metadata = each["metadata"]
        home = metadata["name"] if each["kind"] == "Namespace" else metadata["namespace"]
        found.setdefault(home, []).append(each)
    return found


def state_of(desired: Sequence[Object], live: Sequence[Object]) -> EnvironmentState:
    """The state of one environment from what it should hold and what it holds."""
    present = {key_of(each): each for each in live}
    diffs = [compare(each, present.get(key_of(each))) for each in desired]
    drift = tuple(diff for diff in diffs if has_drifted(diff))
    wanted = {key_of(each) for each in desired}
    strays = [k for k in present if k not in wanted and k.kind in PRUNED_KINDS]
    deployment = next((each for each in live if each["kind"] == "Deployment"), None)
    health, reason = _health(deployment)
    progress = read_progress(deployment) if deployment else None
    return EnvironmentState(
        health=health,
        reason=reason,
        replicas_available=progress.available if progress else 0,
        replicas_wanted=progress.wanted if progress else 0,
        drift=drift,
        strays=tuple(sorted(strays)),
    )


def has_drifted(diff: ObjectDiff) -> bool:
    """Whether one object differs from what was applied; what others added does not count."""
    is_ours = any(change.kind is not ChangeKind.FOREIGN for change in diff.changes)
    return diff.action is not Action.UNCHANGED and (is_ours or diff.action is Action.CREATE)


def _health(deployment: Object | None) -> tuple[Health, str]:
    if deployment is None:
        return Health.MISSING, "There is no Deployment in the cluster."
    progress = read_progress(deployment)
    if progress.is_complete:
        return Health.HEALTHY, ""
    reasons = find_reasons(deployment, [])
    if reasons:
        return Health.DEGRADED, reasons[0].message
    if progress.is_observed and progress.available == 0:
        return Health.DEGRADED, "No replica is available."
    return Health.PROGRESSING, ""
