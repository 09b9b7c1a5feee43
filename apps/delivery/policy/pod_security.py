"""The Pod Security Standards, so that a plan says what the cluster would refuse.

Source: kubernetes.io, Pod Security Standards, levels baseline and restricted.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from apps.delivery.manifests.metadata import POD_SECURITY_LABEL
from apps.delivery.policy.findings import Problem, Severity
from apps.delivery.policy.objects import (
    Container,
    Neighbours,
    Pods,
    labels_of,
    namespace_of,
    pods_of,
)

_BASELINE_CAPABILITIES: Final = frozenset(
    {"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD"}
    | {"NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"}
)
_SAFE_SYSCTLS: Final = frozenset(
    {
        "kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies",
        "net.ipv4.ping_group_range", "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
    }
)  # fmt: skip
_RESTRICTED_VOLUMES: Final = frozenset(
    {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim"}
    | {"projected", "secret"}
)
_SECCOMP_TYPES: Final = ("RuntimeDefault", "Localhost")


def security_problems(manifest: Mapping[str, Any], neighbours: Neighbours) -> Iterator[Problem]:
    """What the enforced level refuses, and what stands in the way of restricted."""
    pods = pods_of(manifest)
    if pods is None:
        return
    level = _enforced_level(namespace_of(manifest), neighbours)
    refused = set(pod_security_problems(pods, level))
    yield from sorted(refused)
    for problem in pod_security_problems(pods, "restricted"):
        if problem not in refused:
            yield problem._replace(rule="not-restricted", severity=Severity.WARNING)


def pod_security_problems(pods: Pods, level: str) -> Iterator[Problem]:
    """What a level (privileged, baseline or restricted) does not allow in these pods."""
    if level == "privileged":
        return
    yield from _pod_baseline(pods)
    for container in pods.containers():
        yield from _container_baseline(container)
        if level == "restricted":
            yield from _container_restricted(container, pods.spec.get("securityContext") or {})
    if level == "restricted":
        yield from _volumes_restricted(pods)


def _enforced_level(namespace: str, neighbours: Neighbours) -> str:
    """The level of the namespace, if it is part of the set."""
    for item in neighbours.of_kind("Namespace"):
        if item["metadata"]["name"] == namespace:
            labels = labels_of(item["metadata"])
            return str(labels.get(f"{POD_SECURITY_LABEL}enforce", "privileged"))
    return "privileged"


def _pod_baseline(pods: Pods) -> Iterator[Problem]:
    """Nothing of the node is shared with the pod."""
    for name in ("hostNetwork", "hostPID", "hostIPC"):
        if pods.spec.get(name):
            yield _refused(f"{pods.path}.{name}", f"{name} shares the node.", "Remove it.")
    for place, volume in enumerate(pods.spec.get("volumes") or ()):
        if "hostPath" in volume:
            path = f"{pods.path}.volumes[{place}].hostPath"
            yield _refused(path, "A folder of the node is mounted.", "Use an emptyDir.")
    security = pods.spec.get("securityContext") or {}
    for place, sysctl in enumerate(security.get("sysctls") or ()):
        if sysctl.get("name") not in _SAFE_SYSCTLS:
            path = f"{pods.path}.securityContext.sysctls[{place}].name"
            yield _refused(path, f"{sysctl.get('name')} is not safe.", "Remove it.")
    yield from _profile_problems(security, f"{pods.path}.securityContext")


def _container_baseline(container: Container) -> Iterator[Problem]:
    """No privileges beyond those of a default container."""
    security = container.fields.get("securityContext") or {}
    path = f"{container.path}.securityContext"
    if security.get("privileged"):
        yield _refused(f"{path}.privileged", "It is privileged.", "Remove it.")
    added = set((security.get("capabilities") or {}).get("add") or ())
    if added - _BASELINE_CAPABILITIES:
        names = ", ".join(sorted(added - _BASELINE_CAPABILITIES))
        yield _refused(f"{path}.capabilities.add", f"{names} may not be added.", "Remove them.")
    if security.get("procMount", "Default") != "Default":
        yield _refused(f"{path}.procMount", "It is unmasked.", "Remove it.")
    for place, port in enumerate(container.fields.get("ports") or ()):
        if port.get("hostPort"):
            where = f"{container.path}.ports[{place}].hostPort"
            yield _refused(where, "A port of the node is taken.", "Use a Service.")
    yield from _profile_problems(security, path)


def _profile_problems(security: Mapping[str, Any], path: str) -> Iterator[Problem]:
    """System call and access profiles are not switched off."""
    for name in ("seccompProfile", "appArmorProfile"):
        if (security.get(name) or {}).get("type") == "Unconfined":
            yield _refused(f"{path}.{name}.type", "It is switched off.", "Use RuntimeDefault.")


def _container_restricted(container: Container, pod: Mapping[str, Any]) -> Iterator[Problem]:
    """An ordinary user without capabilities, who cannot gain any."""
    security = container.fields.get("securityContext") or {}
    path = f"{container.path}.securityContext"
    if security.get("allowPrivilegeEscalation") is not False:
        where = f"{path}.allowPrivilegeEscalation"
        yield _refused(where, "It may gain privileges.", "Set it to false.")
    capabilities = security.get("capabilities") or {}
    if "ALL" not in (capabilities.get("drop") or ()):
        yield _refused(f"{path}.capabilities.drop", "It keeps capabilities.", "Drop ALL.")
    if set(capabilities.get("add") or ()) - {"NET_BIND_SERVICE"}:
        yield _refused(f"{path}.capabilities.add", "It adds capabilities.", "Remove them.")
    if security.get("runAsNonRoot", pod.get("runAsNonRoot")) is not True:
        yield _refused(f"{path}.runAsNonRoot", "It may run as root.", "Set it to true.")
    if security.get("runAsUser", pod.get("runAsUser")) == 0:
        yield _refused(f"{path}.runAsUser", "It runs as root.", "Use another user.")
    profile = security.get("seccompProfile") or pod.get("seccompProfile") or {}
    if profile.get("type") not in _SECCOMP_TYPES:
        where = f"{path}.seccompProfile.type"
        yield _refused(where, "There is no system call profile.", "Use RuntimeDefault.")


def _volumes_restricted(pods: Pods) -> Iterator[Problem]:
    """Only volumes that cannot reach the node."""
    for place, volume in enumerate(pods.spec.get("volumes") or ()):
        strange = volume.keys() - _RESTRICTED_VOLUMES - {"name", "hostPath"}
        if strange:
            path = f"{pods.path}.volumes[{place}]"
            message = f"A volume of kind {', '.join(sorted(strange))} is not allowed."
            yield _refused(path, message, "Use another kind.")


def _refused(path: str, message: str, fix: str) -> Problem:
    """What the admission of the level would refuse."""
    return Problem("pod-security", path, message, fix)
