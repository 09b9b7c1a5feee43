"""What the server adds to an object, and the form in which it stores quantities."""

import base64
from typing import Any

from . import quantities
from .kinds import Kind

Object = dict[str, Any]
_PROBE = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}


def complete(kind: Kind, stored: Object) -> None:
    """Fill in defaults, in place."""
    _FILLERS.get(kind.name, lambda _: None)(stored)


def _fill(target: Object, defaults: Object) -> None:
    for key, value in defaults.items():
        target.setdefault(key, value)


def _namespace(stored: Object) -> None:
    metadata = stored["metadata"]
    metadata.setdefault("labels", {})["kubernetes.io/metadata.name"] = metadata["name"]
    _fill(stored, {"spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}})


def _secret(stored: Object) -> None:
    stored.setdefault("type", "Opaque")
    plain = stored.pop("stringData", None) or {}
    for key, value in plain.items():
        encoded = base64.b64encode(value.encode()).decode()
        stored.setdefault("data", {})[key] = encoded


def _limit_range(stored: Object) -> None:
    for limit in stored.get("spec", {}).get("limits", []):
        for name in ("max", "min", "default", "defaultRequest"):
            if name in limit:
                limit[name] = _amounts(limit[name])
        if "max" in limit:
            limit["default"] = limit["max"] | limit.get("default", {})
        if "default" in limit:
            limit["defaultRequest"] = limit["default"] | limit.get("defaultRequest", {})


def _quota(stored: Object) -> None:
    spec = stored.setdefault("spec", {})
    if "hard" in spec:
        spec["hard"] = _amounts(spec["hard"])
    stored.setdefault("status", {})


def _network_policy(stored: Object) -> None:
    spec = stored["spec"]
    for rule in [*spec.get("ingress", []), *spec.get("egress", [])]:
        for port in rule.get("ports", []):
            port.setdefault("protocol", "TCP")
    spec.setdefault("policyTypes", ["Ingress"] + (["Egress"] if "egress" in spec else []))


def _deployment(stored: Object) -> None:
    spec = stored["spec"]
    _fill(spec, {"replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600})
    strategy = spec.setdefault("strategy", {})
    strategy.setdefault("type", "RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        _fill(rolling, {"maxUnavailable": "25%", "maxSurge": "25%"})
    pod_spec(spec.setdefault("template", {}).setdefault("spec", {}))
    stored.setdefault("status", {})


def pod_spec(spec: Object) -> None:
    """The defaults of a pod or a pod template."""
    _fill(spec, {
        "restartPolicy": "Always", "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst", "securityContext": {}, "schedulerName": "default-scheduler",
    })  # fmt: skip
    if "serviceAccountName" in spec:
        spec["serviceAccount"] = spec["serviceAccountName"]
    for container in [*spec.get("containers", []), *spec.get("initContainers", [])]:
        _container(container)
    for volume in spec.get("volumes", []):
        _volume(volume)


def _container(container: Object) -> None:
    name = container.get("image", "").rpartition("/")[2]
    is_moving = "@" not in name and (":" not in name or name.endswith(":latest"))
    _fill(container, {
        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
        "imagePullPolicy": "Always" if is_moving else "IfNotPresent", "resources": {},
    })  # fmt: skip
    for part in ("limits", "requests"):
        if part in container["resources"]:
            container["resources"][part] = _amounts(container["resources"][part])
    for port in container.get("ports", []):
        port.setdefault("protocol", "TCP")
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if name in container:
            _fill(container[name], _PROBE)
            _http(container[name])
    for hook in container.get("lifecycle", {}).values():
        _http(hook)
    for env in container.get("env", []):
        if "fieldRef" in env.get("valueFrom", {}):
            env["valueFrom"]["fieldRef"].setdefault("apiVersion", "v1")


def _http(handler: Object) -> None:
    if "httpGet" in handler:
        _fill(handler["httpGet"], {"path": "/", "scheme": "HTTP"})


def _volume(volume: Object) -> None:
    if len(volume) == 1:
        volume["emptyDir"] = {}
    for source in ("secret", "configMap", "projected"):
        if source in volume:
            volume[source].setdefault("defaultMode", 420)
    if "sizeLimit" in volume.get("emptyDir", {}):
        volume["emptyDir"]["sizeLimit"] = quantities.canonical(volume["emptyDir"]["sizeLimit"])


def _pod(stored: Object) -> None:
    pod_spec(stored["spec"])
    for container in stored["spec"].get("containers", []):
        resources = container["resources"]
        if "limits" in resources:
            resources["requests"] = resources["limits"] | resources.get("requests", {})
    _fill(stored["spec"], {"serviceAccountName": "default", "serviceAccount": "default"})
    _fill(stored.setdefault("status", {}), {"phase": "Pending", "qosClass": "Burstable"})


def _disruption_budget(stored: Object) -> None:
    names = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
    stored.setdefault("status", dict.fromkeys(names, 0))


def _service(stored: Object) -> None:
    spec = stored["spec"]
    for port in spec.get("ports", []):
        port.setdefault("protocol", "TCP")
        port.setdefault("targetPort", port.get("port"))
    spec.setdefault("clusterIP", "10.96.0.0")
    _fill(spec, {
        "clusterIPs": [spec["clusterIP"]], "type": "ClusterIP", "sessionAffinity": "None",
        "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack", "internalTrafficPolicy": "Cluster",
    })  # fmt: skip
    stored.setdefault("status", {"loadBalancer": {}})


def _ingress(stored: Object) -> None:
    stored.setdefault("status", {"loadBalancer": {}})


def _amounts(amounts: Object) -> Object:
    return {k: quantities.canonical(v, is_cpu=k.endswith("cpu")) for k, v in amounts.items()}


_FILLERS: dict[str, Any] = {
    "Namespace": _namespace,
    "Secret": _secret,
    "LimitRange": _limit_range,
    "ResourceQuota": _quota,
    "NetworkPolicy": _network_policy,
    "Deployment": _deployment,
    "Pod": _pod,
    "PodDisruptionBudget": _disruption_budget,
    "Service": _service,
    "Ingress": _ingress,
}
