"""Amounts: readable, requests within limits, everything bounded, defaults in order."""

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from apps.delivery.errors import InvalidQuantity
from apps.delivery.policy.findings import Problem, Severity
from apps.delivery.policy.objects import Container, Neighbours, field, namespace_of, pods_of
from apps.delivery.quantities import parse_quantity

BOUNDED_RESOURCES: Final = ("cpu", "memory")
_STANDARD_QUOTAS: Final = re.compile(
    r"(?:requests\.|limits\.)?(?:cpu|memory|ephemeral-storage)|requests\.storage|pods|services"
    r"|services\.(?:loadbalancers|nodeports)|configmaps|secrets|persistentvolumeclaims"
    r"|replicationcontrollers|resourcequotas|count/.+|.+/.+|hugepages-.+|requests\.hugepages-.+"
)
_AMOUNT_FIX: Final = "Write it as 500m, 2, 512Mi or 2Gi."

Amounts = Mapping[str, Any]


def amount(value: Any) -> Fraction | None:
    """The value of a quantity, or None where it cannot be read."""
    try:
        return parse_quantity(value)
    except InvalidQuantity:
        return None


def resource_problems(manifest: Mapping[str, Any], neighbours: Neighbours) -> Iterator[Problem]:
    """All rules about the amounts in one object."""
    if manifest["kind"] == "ResourceQuota":
        yield from _quota_problems(field(manifest, "spec.hard") or {})
    elif manifest["kind"] == "LimitRange":
        yield from _limit_range_problems(field(manifest, "spec.limits") or [])
    pods = pods_of(manifest)
    if pods is None:
        return
    namespace = namespace_of(manifest)
    defaults = container_defaults(neighbours.of_kind("LimitRange", namespace))
    has_quota = bool(neighbours.of_kind("ResourceQuota", namespace))
    for container in pods.containers():
        yield from _container_problems(container, defaults, has_quota=has_quota)
    for place, volume in enumerate(pods.spec.get("volumes") or ()):
        size = (volume.get("emptyDir") or {}).get("sizeLimit")
        path = f"{pods.path}.volumes[{place}].emptyDir.sizeLimit"
        yield from _unreadable({path: size} if size is not None else {})


def effective_resources(fields: Mapping[str, Any], defaults: "Defaults") -> tuple[Amounts, Amounts]:
    """Requests and limits of a container after defaulting: a request follows its limit."""
    resources = fields.get("resources") or {}
    own_limits = resources.get("limits") or {}
    limits = {**defaults[1], **own_limits}
    requests = {**limits, **defaults[0], **own_limits, **(resources.get("requests") or {})}
    return requests, limits


# Default requests and default limits of a namespace.
Defaults = tuple[Amounts, Amounts]


def container_defaults(limit_ranges: Sequence[Mapping[str, Any]]) -> Defaults:
    """What containers of a namespace get that name nothing."""
    requests: dict[str, Any] = {}
    limits: dict[str, Any] = {}
    for limit_range in limit_ranges:
        for item in field(limit_range, "spec.limits") or ():
            if item.get("type") == "Container":
                limits |= item.get("max") or {}
                limits |= item.get("default") or {}
                requests |= item.get("defaultRequest") or {}
    return requests, limits


def _container_problems(
    container: Container, defaults: Defaults, *, has_quota: bool
) -> Iterator[Problem]:
    """Readable amounts, requests within limits, and all of them where a quota counts them."""
    path = f"{container.path}.resources"
    resources = container.fields.get("resources") or {}
    written = {
        f"{path}.{side}.{name}": value
        for side in ("requests", "limits")
        for name, value in (resources.get(side) or {}).items()
    }
    unreadable = list(_unreadable(written))
    yield from unreadable
    if unreadable:
        return
    requests, limits = effective_resources(container.fields, defaults)
    for name in sorted(requests.keys() & limits.keys()):
        if parse_quantity(requests[name]) > parse_quantity(limits[name]):
            message = f"The {name} request {requests[name]} exceeds the limit {limits[name]}."
            fix = "Raise the limit (it may come from the LimitRange) or lower the request."
            yield Problem("request-limit", f"{path}.requests", message, fix)
    for name in BOUNDED_RESOURCES:
        for side, amounts in (("requests", requests), ("limits", limits)):
            if name not in amounts:
                message = f"There is no {name} in {side}; a quota refuses such pods."
                severity = Severity.ERROR if has_quota else Severity.WARNING
                fix = "Name it, for init containers too, or give the namespace a LimitRange."
                yield Problem("bounded", path, message, fix, severity)


def _quota_problems(hard: Amounts) -> Iterator[Problem]:
    """Known resources, none of them negative."""
    for name, value in hard.items():
        path = f"spec.hard[{name}]"
        if _STANDARD_QUOTAS.fullmatch(name) is None:
            fix = "Use a standard resource or a name with a domain."
            yield Problem("quota", path, f"{name!r} is no resource.", fix)
        if (amount(value) or 0) < 0:
            yield Problem("quota", path, f"{value} is negative.", "Use 0 or more.")
    yield from _unreadable({f"spec.hard[{name}]": value for name, value in hard.items()})


def _limit_range_problems(limits: Sequence[Mapping[str, Any]]) -> Iterator[Problem]:
    """Readable amounts, and a default limit that holds the default request."""
    for place, item in enumerate(limits):
        path = f"spec.limits[{place}]"
        sides = ("default", "defaultRequest", "max", "min")
        yield from _unreadable(
            {
                f"{path}.{side}[{name}]": value
                for side in sides
                for name, value in (item.get(side) or {}).items()
            }
        )
        for name, value in (item.get("defaultRequest") or {}).items():
            limit, request = amount((item.get("default") or {}).get(name, "")), amount(value)
            if limit is not None and request is not None and request > limit:
                where = f"{path}.defaultRequest[{name}]"
                message = f"The default request {value} exceeds the default limit."
                yield Problem("request-limit", where, message, "Raise the default limit.")


def _unreadable(amounts: Mapping[str, Any]) -> Iterator[Problem]:
    """What is no quantity, by path."""
    for path, value in amounts.items():
        if amount(value) is None:
            yield Problem("quantity", path, f"{value!r} is no quantity.", _AMOUNT_FIX)
