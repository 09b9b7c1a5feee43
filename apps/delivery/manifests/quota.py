"""How much a namespace may use, from replicas, profile and domains.

Everything that counts at once must fit: the replicas, the one pod that a rolling update adds, pods
that still terminate (a Deployment does not wait for them), and the ACME solver pods and services
that cert-manager starts in the app's namespace.
"""

from typing import Any, Final, NamedTuple

from apps.delivery.context import DeliveryContext
from apps.delivery.manifests.metadata import QUOTA_NAME, Manifest, namespaced
from apps.delivery.profiles import DEFAULT_PROFILE, RESOURCE_PROFILES
from apps.delivery.quantities import cpu_quantity, memory_quantity

BASE_SERVICES: Final = 10


class Amounts(NamedTuple):
    """Sums over pods: thousandths of a core, mebibytes, and counts."""

    requests_cpu_milli: int
    requests_memory_mi: int
    limits_cpu_milli: int
    limits_memory_mi: int
    pods: int
    services: int = 0


# What every app has had so far, however small it is.
QUOTA_FLOOR: Final = Amounts(2000, 2048, 4000, 4096, 20)
# cert-manager's HTTP-01 solver with its default resources.
SOLVER: Final = Amounts(10, 64, 100, 64, 1, 1)


def namespace_quota(replicas: int = 1, profile: str = DEFAULT_PROFILE) -> dict[str, Any]:
    """The original's quota: replicas and one surge pod, never below the floor.

    A profile that nobody knows counts as small here, as it did there; a context refuses it before.
    """
    steady = _sum_of_pods(replicas + 1, profile)
    return _as_original(_at_least(steady, QUOTA_FLOOR))


def quota_headroom(
    replicas: int = 1, profile: str = DEFAULT_PROFILE, domain_count: int = 0
) -> dict[str, Any]:
    """What the baseline adds: a terminating pod per replica, a solver per custom domain."""
    amounts = _headroom(replicas, profile, domain_count)
    return {**_as_original(amounts), "services": amounts.services}


def resource_quota(context: DeliveryContext) -> Manifest:
    """The ResourceQuota of an app's namespace, in canonical quantities."""
    floor = _at_least(_sum_of_pods(context.replicas + 1, context.resource_profile), QUOTA_FLOOR)
    headroom = _headroom(context.replicas, context.resource_profile, len(context.custom_domains))
    total = _plus(floor, headroom)
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": namespaced(QUOTA_NAME, context),
        "spec": {
            "hard": {
                "requests.cpu": cpu_quantity(total.requests_cpu_milli),
                "requests.memory": memory_quantity(total.requests_memory_mi),
                "limits.cpu": cpu_quantity(total.limits_cpu_milli),
                "limits.memory": memory_quantity(total.limits_memory_mi),
                "pods": str(total.pods),
                "services": str(BASE_SERVICES + total.services),
            }
        },
    }


def _headroom(replicas: int, profile: str, domain_count: int) -> Amounts:
    """Terminating pods and solvers."""
    solvers = Amounts(*(amount * domain_count for amount in SOLVER))
    return _plus(_sum_of_pods(replicas, profile), solvers)


def _sum_of_pods(pods: int, profile: str) -> Amounts:
    """So many pods of a profile."""
    one = RESOURCE_PROFILES.get(profile, RESOURCE_PROFILES[DEFAULT_PROFILE])
    return Amounts(
        pods * one.cpu_request_milli,
        pods * one.memory_request_mi,
        pods * one.cpu_limit_milli,
        pods * one.memory_limit_mi,
        pods,
    )


def _plus(one: Amounts, other: Amounts) -> Amounts:
    """Both together."""
    return Amounts(*(left + right for left, right in zip(one, other, strict=True)))


def _at_least(amounts: Amounts, floor: Amounts) -> Amounts:
    """Each amount, or the floor's where that is higher."""
    return Amounts(*map(max, amounts, floor))


def _as_original(amounts: Amounts) -> dict[str, Any]:
    """The keys and the units that the original answered with."""
    return {
        "requestsCpu": f"{amounts.requests_cpu_milli}m",
        "requestsMemory": f"{amounts.requests_memory_mi}Mi",
        "limitsCpu": f"{amounts.limits_cpu_milli}m",
        "limitsMemory": f"{amounts.limits_memory_mi}Mi",
        "pods": amounts.pods,
    }
