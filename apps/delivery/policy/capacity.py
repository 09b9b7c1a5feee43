"""Whether a namespace's quota holds the worst moment of an update, and budgets allow one at all."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import ceil
from typing import Any, Final

from apps.delivery.policy.findings import Problem, Severity
from apps.delivery.policy.objects import (
    Neighbours,
    field,
    labels_of,
    namespace_of,
    pods_of,
    selects,
)
from apps.delivery.policy.resources import (
    Amounts,
    Defaults,
    amount,
    container_defaults,
    effective_resources,
)

_COUNTED: Final = ("requests.cpu", "requests.memory", "limits.cpu", "limits.memory", "pods")
_DEFAULT_SURGE: Final = "25%"

Need = dict[str, Fraction]


def capacity_problems(manifest: Mapping[str, Any], neighbours: Neighbours) -> Iterator[Problem]:
    """All rules about one quota or one disruption budget."""
    namespace = namespace_of(manifest)
    if manifest["kind"] == "ResourceQuota":
        hard = field(manifest, "spec.hard") or {}
        yield from _quota_problems(hard, namespace, neighbours)
    elif manifest["kind"] == "PodDisruptionBudget":
        yield from _budget_problems(manifest, neighbours.of_kind("Deployment", namespace))


def pods_at_worst(deployment: Mapping[str, Any]) -> int:
    """Replicas, those that still terminate, and the surge: all count against a quota at once."""
    replicas = _replicas(deployment)
    if field(deployment, "spec.strategy.type") == "Recreate":
        return 2 * replicas
    surge = field(deployment, "spec.strategy.rollingUpdate.maxSurge")
    return 2 * replicas + _count(_DEFAULT_SURGE if surge is None else surge, replicas)


def _quota_problems(hard: Amounts, namespace: str, neighbours: Neighbours) -> Iterator[Problem]:
    """Need and grant of each counted resource."""
    defaults = container_defaults(neighbours.of_kind("LimitRange", namespace))
    need: Need = dict.fromkeys(_COUNTED, Fraction(0))
    for deployment in neighbours.of_kind("Deployment", namespace):
        for name, value in _need_of(deployment, defaults).items():
            need[name] += value
    need["services"] = Fraction(len(neighbours.of_kind("Service", namespace)))
    for name, needed in need.items():
        granted = amount(hard[name]) if name in hard else None
        if granted is not None and needed > granted:
            message = (
                f"An update needs {_shown(needed)} (with the surge pod and terminating pods), "
                f"the quota grants {hard[name]}."
            )
            fix = "Raise the quota; namespace_quota and quota_headroom give the amounts."
            yield Problem("quota-fit", f"spec.hard[{name}]", message, fix)


def _need_of(deployment: Mapping[str, Any], defaults: Defaults) -> Need:
    """What a Deployment uses at its worst moment."""
    count = pods_at_worst(deployment)
    need: Need = {"pods": Fraction(count)}
    for place, side in enumerate(("requests", "limits")):
        for name in ("cpu", "memory"):
            need[f"{side}.{name}"] = count * _pod_amount(deployment, defaults, place, name)
    return need


def _pod_amount(
    deployment: Mapping[str, Any], defaults: Defaults, side: int, name: str
) -> Fraction:
    """One pod: the sum of its containers, or the largest init container if that is more."""
    pods = pods_of(deployment)
    together, largest_init = Fraction(0), Fraction(0)
    for container in pods.containers() if pods else ():
        value = effective_resources(container.fields, defaults)[side].get(name, 0)
        used = amount(value) or Fraction(0)
        if container.is_init:
            largest_init = max(largest_init, used)
        else:
            together += used
    return max(together, largest_init)


def _budget_problems(
    budget: Mapping[str, Any], deployments: list[Mapping[str, Any]]
) -> Iterator[Problem]:
    """A budget says one thing, and leaves room to drain a node."""
    spec = budget.get("spec") or {}
    if "minAvailable" in spec and "maxUnavailable" in spec:
        fix = "Keep maxUnavailable: 1."
        yield Problem("budget", "spec", "It has minAvailable and maxUnavailable.", fix)
        return
    labels = field(budget, "spec.selector.matchLabels")
    for deployment in deployments:
        pods = pods_of(deployment)
        is_meant = pods is not None and selects(labels, labels_of(pods.metadata))
        if is_meant and _allowed_disruptions(spec, _replicas(deployment)) < 1:
            message = "It lets no pod go, so nodes cannot be drained."
            yield Problem("budget-blocks", "spec", message, "Use maxUnavailable: 1.")
    if spec.get("unhealthyPodEvictionPolicy") != "AlwaysAllow":
        message = "A pod that is not ready can block the draining of its node."
        path, fix = "spec.unhealthyPodEvictionPolicy", "Use AlwaysAllow."
        yield Problem("budget-unhealthy", path, message, fix, Severity.WARNING)


def _allowed_disruptions(spec: Mapping[str, Any], replicas: int) -> int:
    """How many pods may go while all are healthy; without replicas nothing blocks."""
    if replicas == 0:
        return 1
    if "maxUnavailable" in spec:
        return _count(spec["maxUnavailable"], replicas)
    return replicas - _count(spec.get("minAvailable", 0), replicas)


def _replicas(deployment: Mapping[str, Any]) -> int:
    """Replicas, 1 when not given."""
    value = field(deployment, "spec.replicas")
    return 1 if value is None else int(value)


def _count(value: Any, replicas: int) -> int:
    """A number or a share of the replicas, rounded up as surge and budgets are."""
    if isinstance(value, str) and value.endswith("%"):
        share = value.removesuffix("%")
        return ceil(int(share) * replicas / 100) if share.isdecimal() else 0
    return int(value) if isinstance(value, int) else 0


def _shown(value: Fraction) -> str:
    """An amount for people."""
    return f"{float(value):g}"
