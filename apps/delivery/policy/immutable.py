"""Fields that the API server never changes: the object would have to be made anew."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from apps.delivery.policy.findings import Problem
from apps.delivery.policy.objects import field

_IMMUTABLE: Final[Mapping[str, tuple[str, ...]]] = {
    "Deployment": ("spec.selector",),
    "StatefulSet": ("spec.selector", "spec.serviceName", "spec.volumeClaimTemplates"),
    "Job": ("spec.selector", "spec.template"),
    "Service": ("spec.clusterIP", "spec.clusterIPs"),
    "Secret": ("type",),
}


def immutable_problems(desired: Mapping[str, Any], live: Mapping[str, Any]) -> Iterator[Problem]:
    """Changes that an apply would refuse; what is not named keeps its value."""
    frozen = [*_IMMUTABLE.get(desired["kind"], ())]
    if live.get("immutable") is True:
        frozen += ["data", "binaryData"]
    for path in frozen:
        wanted = field(desired, path)
        if wanted is not None and wanted != field(live, path):
            fix = "Keep it, or delete the object first."
            yield Problem("immutable", path, "It can never change.", fix)
