"""What Kubernetes knows about its fields: list keys, quantities, and what the server adds.

Source: the merge keys of its published API, and the answers of a real 1.36 server to the smallest
objects it accepts.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from apps.delivery.comparison.changes import Path

# Lists whose items have an identity of their own, by the name of the list.
LIST_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "containers": ("name",),
    "initContainers": ("name",),
    "ephemeralContainers": ("name",),
    "env": ("name",),
    "volumes": ("name",),
    "imagePullSecrets": ("name",),
    "volumeMounts": ("mountPath",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
}
_CONTAINER_PORT_KEY: Final = ("containerPort", "protocol")
_SERVICE_PORT_KEY: Final = ("port", "protocol")
_KEY_DEFAULTS: Final = {"protocol": "TCP"}

# Lists in which order says nothing.
SET_LISTS: Final = frozenset(
    {"hosts", "finalizers", "drop", "add", "policyTypes", "from", "to", "except", "tls", "rules"}
    | {"matchLabelKeys", "matchExpressions", "values", "accessModes", "clusterIPs"}
)
# Beneath these every list is one value of its owner: order is free, but nothing merges.
SET_PARENTS: Final = frozenset({"ingress", "egress"})

# An empty object says something here: it selects everything, or names a kind of volume.
_TELLING_WHEN_EMPTY: Final = frozenset({"podSelector", "namespaceSelector", "emptyDir"})

_QUANTITY_PARENTS: Final = frozenset(
    {"requests", "limits", "hard", "default", "defaultRequest", "max", "min"}
)

IGNORED: Final[frozenset[Path]] = frozenset(
    {("status",), ("spec", "finalizers"), ("metadata", "labels", "kubernetes.io/metadata.name")}
    | {
        ("metadata", name)
        for name in (
            "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields",
            "selfLink", "ownerReferences", "finalizers", "generateName", "deletionTimestamp",
            "deletionGracePeriodSeconds",
        )
    }
    | {
        ("metadata", "annotations", name)
        for name in (
            "deployment.kubernetes.io/revision",
            "kubectl.kubernetes.io/last-applied-configuration",
        )
    }
)  # fmt: skip

# The server chooses these by itself, whatever the value.
_ALLOCATED: Final[frozenset[tuple[str, Path]]] = frozenset(
    ("Service", ("spec", name))
    for name in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "healthCheckNodePort")
)

_TEMPLATE: Final[Path] = ("spec", "template", "spec")
_CONTAINER_DEFAULTS: Final[Mapping[str, Any]] = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
    "resources": {},
}
_POD_DEFAULTS: Final[Mapping[str, Any]] = {
    "restartPolicy": "Always",
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
    "securityContext": {},
    "terminationGracePeriodSeconds": 30,
    "enableServiceLinks": True,
}
_PROBE_DEFAULTS: Final[Mapping[str, Any]] = {
    "timeoutSeconds": 1,
    "periodSeconds": 10,
    "successThreshold": 1,
    "failureThreshold": 3,
}
# By the last names of a path; the values are those of a real server.
_DEFAULTS_BY_END: Final[Mapping[Path, Any]] = {
    ("httpGet", "scheme"): "HTTP",
    ("httpGet", "path"): "/",
    ("fieldRef", "apiVersion"): "v1",
    ("secret", "defaultMode"): 420,
    ("configMap", "defaultMode"): 420,
    ("projected", "defaultMode"): 420,
    **{
        (probe, name): value
        for probe in ("livenessProbe", "readinessProbe", "startupProbe")
        for name, value in _PROBE_DEFAULTS.items()
    },
}
_DEFAULTS_BY_KIND: Final[Mapping[tuple[str, Path], Any]] = {
    ("Secret", ("type",)): "Opaque",
    ("Deployment", ("spec", "replicas")): 1,
    ("Deployment", ("spec", "revisionHistoryLimit")): 10,
    ("Deployment", ("spec", "progressDeadlineSeconds")): 600,
    ("Deployment", ("spec", "strategy", "type")): "RollingUpdate",
    ("Deployment", ("spec", "strategy", "rollingUpdate", "maxSurge")): "25%",
    ("Deployment", ("spec", "strategy", "rollingUpdate", "maxUnavailable")): "25%",
    ("Service", ("spec", "type")): "ClusterIP",
    ("Service", ("spec", "sessionAffinity")): "None",
    ("Service", ("spec", "internalTrafficPolicy")): "Cluster",
}


def list_key(kind: str, path: Path) -> tuple[str, ...] | None:
    """The names that identify an item of the list at this path, or None."""
    name = path[-1]
    if name == "ports":
        if kind == "Service":
            return _SERVICE_PORT_KEY
        return _CONTAINER_PORT_KEY if "containers" in path or "initContainers" in path else None
    return LIST_KEYS.get(name)


def item_identity(item: Any, keys: tuple[str, ...]) -> tuple[str, ...]:
    """The values of an item's keys, as text."""
    fields = item if isinstance(item, Mapping) else {}
    return tuple(str(fields.get(key, _KEY_DEFAULTS.get(key, ""))) for key in keys)


def is_set(path: Path) -> bool:
    """True for a list in which order says nothing."""
    name = path[-1]
    return name in SET_LISTS or name in SET_PARENTS or bool(SET_PARENTS & set(path[:-1]))


def says_nothing(path: Path, value: Any) -> bool:
    """True for an empty value that means the same as no value."""
    if value == {}:
        return path[-1] not in _TELLING_WHEN_EMPTY
    return value is None or value in ([], "")


def is_quantity(path: Path) -> bool:
    """True for an amount of a resource."""
    return path[-1] == "sizeLimit" or (len(path) > 1 and path[-2] in _QUANTITY_PARENTS)


def is_server_made(kind: str, path: Path, value: Any, siblings: Mapping[str, Any]) -> bool:
    """True when the server gives a field this value where nobody has set it."""
    if (kind, path) in _ALLOCATED:
        return True
    known = _DEFAULTS_BY_KIND.get((kind, path), _DEFAULTS_BY_END.get(path[-2:]))
    if known is not None:
        return bool(known == value)
    computed = _COMPUTED.get(path[-1])
    if computed is not None:
        return bool(computed(siblings) == value)
    if _is_item_of(path, ("containers", "initContainers")):
        return bool(_CONTAINER_DEFAULTS.get(path[-1], _NOTHING) == value)
    if path[:-1] == _TEMPLATE or (kind == "Pod" and path[:-1] == ("spec",)):
        return bool(_POD_DEFAULTS.get(path[-1], _NOTHING) == value)
    return False


def _is_item_of(path: Path, lists: tuple[str, ...]) -> bool:
    """True for a field directly in an item of one of the lists."""
    return len(path) > 2 and path[-2].startswith("[") and path[-3] in lists  # noqa: PLR2004


def _pull_policy(container: Mapping[str, Any]) -> str:
    """Images without a tag or digest, and `latest`, are always pulled."""
    name = str(container.get("image", "")).rpartition("/")[2]
    is_fixed = "@" in name or (":" in name and not name.endswith(":latest"))
    return "IfNotPresent" if is_fixed else "Always"


def _policy_types(spec: Mapping[str, Any]) -> list[str]:
    """A network policy is about what comes in, and about what goes out if it has such rules."""
    return ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]


_NOTHING: Final = object()
# Values that follow from the fields beside them.
_COMPUTED: Final[Mapping[str, Callable[[Mapping[str, Any]], Any]]] = {
    "protocol": lambda port: "TCP",  # noqa: ARG005
    "emptyDir": lambda volume: {},  # noqa: ARG005
    "targetPort": lambda port: port.get("port"),
    "serviceAccount": lambda pod: pod.get("serviceAccountName"),
    "imagePullPolicy": _pull_policy,
    "policyTypes": _policy_types,
    "default": lambda limit: limit.get("max"),
    "defaultRequest": lambda limit: limit.get("default"),
}
