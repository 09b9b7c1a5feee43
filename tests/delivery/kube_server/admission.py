"""Admission: namespaces, quota, limit ranges, service accounts and Pod Security."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from . import quantities
from .kinds import BY_NAME, Kind
from .statuses import RefusedError, forbidden, not_found

if TYPE_CHECKING:
    from .store import Store

Object = dict[str, Any]
_LEVEL = "pod-security.kubernetes.io/"
_COUNTED = {"Pod": "pods", "Service": "services"}


def check_namespace(store: "Store", kind: Kind, namespace: str, name: str) -> None:
    """Refuse to create in a namespace that is missing or going away."""
    found = store.get(BY_NAME["Namespace"], "", namespace)
    if found is None:
        raise not_found(BY_NAME["Namespace"], namespace)
    if found["status"]["phase"] == "Terminating":
        why = (
            f"unable to create new content in namespace {namespace} because it is being terminated"
        )
        cause = {
            "reason": "NamespaceTerminating",
            "message": f"namespace {namespace} is being terminated",
            "field": "metadata.namespace",
        }
        raise forbidden(kind, name, why, causes=[cause])


def admit(store: "Store", kind: Kind, new: Object) -> None:
    """Refuse, with 403, what quota or Pod Security or a missing account does not let in."""
    if kind.name == "Pod":
        _check_account(store, kind, new)
        _default_resources(store, new)
        if violations := violations_of(new["spec"]):
            level = level_of(store, new["metadata"]["namespace"], "enforce")
            if level == "restricted":
                why = f'violates PodSecurity "restricted:latest": {describe(violations)}'
                raise forbidden(kind, new["metadata"]["name"], why)
    if kind.name in _COUNTED:
        _check_quota(store, kind, new)


def warnings_for(store: "Store", kind: Kind, new: Object) -> list[str]:
    """The Warning headers that an accepted Deployment gets."""
    if kind.name != "Deployment":
        return []
    namespace = new["metadata"]["namespace"]
    level = level_of(store, namespace, "warn") or level_of(store, namespace, "enforce")
    violations = violations_of(new["spec"]["template"]["spec"])
    if level != "restricted" or not violations:
        return []
    return [f'would violate PodSecurity "restricted:latest": {describe(violations)}']


def level_of(store: "Store", namespace: str, mode: str) -> str:
    """The Pod Security level of a namespace; empty when it has none."""
    found = store.get(BY_NAME["Namespace"], "", namespace) or {"metadata": {}}
    level: str = found["metadata"].get("labels", {}).get(f"{_LEVEL}{mode}", "")
    return level


def describe(violations: dict[str, str]) -> str:
    """All violations with their remedies, in the order of the real server."""
    return ", ".join(f"{name} ({remedy})" for name, remedy in violations.items())


def violations_of(spec: Object) -> dict[str, str]:
    """What stands in the way of the level restricted, for pods of one container."""
    pod = spec.get("securityContext", {})
    container = spec["containers"][0]
    own = container.get("securityContext", {})
    where = f'container "{container["name"]}" must set securityContext'
    found = {}
    if own.get("allowPrivilegeEscalation") is not False:
        found["allowPrivilegeEscalation != false"] = f"{where}.allowPrivilegeEscalation=false"
    if "ALL" not in own.get("capabilities", {}).get("drop", []):
        found["unrestricted capabilities"] = f'{where}.capabilities.drop=["ALL"]'
    if not own.get("runAsNonRoot", pod.get("runAsNonRoot")):
        found["runAsNonRoot != true"] = f"pod or {where}.runAsNonRoot=true"
    if "seccompProfile" not in own | pod:
        found["seccompProfile"] = (
            f'pod or {where}.seccompProfile.type to "RuntimeDefault" or "Localhost"'
        )
    return found


def _check_account(store: "Store", kind: Kind, new: Object) -> None:
    account = new["spec"]["serviceAccountName"]
    namespace = new["metadata"]["namespace"]
    if account != "default" and not store.get(BY_NAME["ServiceAccount"], namespace, account):
        why = (
            f"error looking up service account {namespace}/{account}: "
            f'serviceaccount "{account}" not found'
        )
        raise forbidden(kind, new["metadata"].get("generateName", new["metadata"]["name"]), why)


def _default_resources(store: "Store", new: Object) -> None:
    for ranges in store.list(BY_NAME["LimitRange"], new["metadata"]["namespace"]):
        for limit in ranges["spec"]["limits"]:
            for container in new["spec"]["containers"]:
                resources = container["resources"]
                resources["limits"] = limit.get("default", {}) | resources.get("limits", {})
                asked = limit.get("defaultRequest", {}) | resources.get("requests", {})
                resources["requests"] = asked


def _check_quota(store: "Store", kind: Kind, new: Object) -> None:
    namespace, name = new["metadata"]["namespace"], new["metadata"]["name"]
    for quota in store.list(BY_NAME["ResourceQuota"], namespace):
        hard = quota["spec"].get("hard", {})
        label = f"{quota['metadata']['name']}"
        asked = amounts_of(kind, [new])
        if kind.name == "Pod" and (unset := _unset(new, hard)):
            raise forbidden(kind, name, f"failed quota: {label}: must specify {unset}")
        used = amounts_of(kind, store.list(kind, namespace))
        over = [k for k in sorted(hard) if k in asked and used[k] + asked[k] > _value(hard[k])]
        if over:
            shown = (
                ("requested", {k: _text(k, asked[k]) for k in over}),
                ("used", {k: _text(k, used[k]) for k in over}),
                ("limited", {k: hard[k] for k in over}),
            )
            parts = [f"{word}: " + ",".join(f"{k}={v}" for k, v in a.items()) for word, a in shown]
            raise forbidden(kind, name, f"exceeded quota: {label}, {', '.join(parts)}")


def amounts_of(kind: Kind, objects: Iterable[Object]) -> dict[str, Any]:
    """What these objects use, by quota resource."""
    chosen = list(objects)
    used: dict[str, Any] = {_COUNTED[kind.name]: quantities.value_of(len(chosen))}
    if kind.name == "Pod":
        for part, name in ((p, n) for p in ("requests", "limits") for n in ("cpu", "memory")):
            used[f"{part}.{name}"] = sum(
                (quantities.value_of(c["resources"].get(part, {}).get(name, 0))
                 for pod in chosen for c in pod["spec"]["containers"]),
                start=quantities.value_of(0),
            )  # fmt: skip
    return used


def _unset(pod: Object, hard: Object) -> str:
    missing = [
        f"{name} for: {container['name']}"
        for name in sorted(hard)
        for container in pod["spec"]["containers"]
        if "." in name and name.partition(".")[2] in {"cpu", "memory"}
        and name.partition(".")[2] not in container["resources"].get(name.partition(".")[0], {})
    ]  # fmt: skip
    return "; ".join(missing)


def _value(amount: Any) -> Any:
    return quantities.value_of(amount)


def _text(name: str, value: Any) -> str:
    if name.endswith("memory") and value.denominator == 1:
        return quantities.canonical(f"{value.numerator}") if value % 1024 else _binary(value)
    return quantities.canonical(f"{int(value * 1000)}m")


def _binary(value: Any) -> str:
    return quantities.canonical(f"{value.numerator // 1024}Ki")


__all__ = ["RefusedError", "admit", "check_namespace", "level_of", "violations_of", "warnings_for"]
