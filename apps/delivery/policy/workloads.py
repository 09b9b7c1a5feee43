"""Deployments and the pods of all kinds: selectors, updates, spread, volumes and images."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from apps.delivery.policy.containers import container_problems
from apps.delivery.policy.findings import Problem, Severity
from apps.delivery.policy.objects import Pods, field, labels_of, pods_of, selects

_SELECTING_KINDS: Final = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"})
_DEFAULT_PROGRESS_DEADLINE_SECONDS: Final = 600
_RESTART_POLICIES: Final = ("Always", "OnFailure", "Never")
_UNSATISFIABLE: Final = ("DoNotSchedule", "ScheduleAnyway")


def workload_problems(manifest: Mapping[str, Any]) -> Iterator[Problem]:
    """All rules about one object that makes pods."""
    pods = pods_of(manifest)
    if pods is None:
        return
    if manifest["kind"] in _SELECTING_KINDS:
        yield from _selector_problems(manifest, pods)
    if manifest["kind"] == "Deployment":
        yield from _update_problems(manifest)
    yield from _pod_problems(pods)
    yield from _spread_problems(pods, is_updated=manifest["kind"] == "Deployment")
    yield from _volume_problems(pods)
    yield from container_problems(pods)


def _selector_problems(manifest: Mapping[str, Any], pods: Pods) -> Iterator[Problem]:
    """A workload must find the pods that it makes."""
    labels = field(manifest, "spec.selector.matchLabels")
    if not labels and not field(manifest, "spec.selector.matchExpressions"):
        fix = "Select by the labels of the template that never change."
        yield Problem("selector", "spec.selector", "It selects nothing.", fix)
    elif not selects(labels, labels_of(pods.metadata)):
        message = "The selector does not match the template's labels."
        fix = "Give the template every label of the selector."
        yield Problem("selector", "spec.template.metadata.labels", message, fix)


def _update_problems(manifest: Mapping[str, Any]) -> Iterator[Problem]:
    """Replicas, strategy and deadline of a Deployment."""
    spec = manifest.get("spec") or {}
    if (spec.get("replicas") or 0) < 0:
        yield Problem("replicas", "spec.replicas", "It is negative.", "Use 0 or more.")
    strategy = spec.get("strategy") or {}
    rolling = strategy.get("rollingUpdate") or {}
    if strategy.get("type") == "Recreate" and rolling:
        message = "Recreate does not roll."
        yield Problem("strategy", "spec.strategy.rollingUpdate", message, "Remove rollingUpdate.")
    if rolling.get("maxSurge") in (0, "0%") and rolling.get("maxUnavailable") in (0, "0%"):
        path = "spec.strategy.rollingUpdate.maxUnavailable"
        message = "No pod may come and none may go, so nothing can be updated."
        yield Problem("strategy", path, message, "Allow maxSurge 1.")
    deadline = spec.get("progressDeadlineSeconds", _DEFAULT_PROGRESS_DEADLINE_SECONDS)
    if deadline is not None and deadline <= (spec.get("minReadySeconds") or 0):
        message = "The deadline is over before a pod can count as available."
        fix = "Make it longer than minReadySeconds."
        yield Problem("deadline", "spec.progressDeadlineSeconds", message, fix)


def _pod_problems(pods: Pods) -> Iterator[Problem]:
    """Fields of the pod itself."""
    if not pods.spec.get("containers"):
        path = f"{pods.path}.containers"
        yield Problem("containers", path, "There is no container.", "Name at least one.")
    policy = pods.spec.get("restartPolicy", "Always")
    if policy not in _RESTART_POLICIES:
        yield _unknown(f"{pods.path}.restartPolicy", policy, _RESTART_POLICIES)
    if (pods.spec.get("terminationGracePeriodSeconds") or 0) < 0:
        path = f"{pods.path}.terminationGracePeriodSeconds"
        message = "A negative grace period counts as one second."
        yield Problem("grace", path, message, "Use 0 or more.", Severity.WARNING)


def _spread_problems(pods: Pods, *, is_updated: bool) -> Iterator[Problem]:
    """Spread constraints that exist, and that count one revision only."""
    for place, constraint in enumerate(pods.spec.get("topologySpreadConstraints") or ()):
        path = f"{pods.path}.topologySpreadConstraints[{place}]"
        if (constraint.get("maxSkew") or 0) < 1:
            yield Problem("spread", f"{path}.maxSkew", "It must be above zero.", "Use 1.")
        if not constraint.get("topologyKey"):
            fix = "Use kubernetes.io/hostname."
            yield Problem("spread", f"{path}.topologyKey", "It names no label of nodes.", fix)
        when = constraint.get("whenUnsatisfiable")
        if when not in _UNSATISFIABLE:
            yield _unknown(f"{path}.whenUnsatisfiable", when, _UNSATISFIABLE)
        if is_updated and "pod-template-hash" not in (constraint.get("matchLabelKeys") or ()):
            message = "Pods of the old revision count too, so the new ones may share a node."
            fix = "Add matchLabelKeys: [pod-template-hash]."
            yield Problem("spread-revision", path, message, fix, Severity.WARNING)


def _volume_problems(pods: Pods) -> Iterator[Problem]:
    """Every mount has its volume."""
    names = {volume.get("name") for volume in pods.spec.get("volumes") or ()}
    for container in pods.containers():
        for place, mount in enumerate(container.fields.get("volumeMounts") or ()):
            if mount.get("name") not in names:
                path = f"{container.path}.volumeMounts[{place}].name"
                message = f"There is no volume {mount.get('name')!r}."
                yield Problem("volume", path, message, "Add it to the pod's volumes.")


def _unknown(path: str, value: Any, allowed: tuple[str, ...]) -> Problem:
    """A word outside of a closed list."""
    return Problem("enumeration", path, f"{value!r} is unknown.", f"Use {' or '.join(allowed)}.")
