"""The kinds of object that Pombo writes or reads, and where they stand in the API; pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind: its API group and version, and its plural in paths."""

    kind: str
    group: str
    version: str
    plural: str
    is_namespaced: bool = True

    @property
    def api_version(self) -> str:
        """The `apiVersion` of its objects."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str = "", name: str = "") -> str:
        """The address of one object, or of the collection when no name is given."""
        root = f"/apis/{self.group}" if self.group else "/api"
        home = f"/namespaces/{namespace}" if self.is_namespaced and namespace else ""
        return f"{root}/{self.version}{home}/{self.plural}" + (f"/{name}" if name else "")


_NETWORKING = "networking.k8s.io"
_ALL = (
    Resource("Namespace", "", "v1", "namespaces", is_namespaced=False),
    Resource("ServiceAccount", "", "v1", "serviceaccounts"),
    Resource("LimitRange", "", "v1", "limitranges"),
    Resource("ResourceQuota", "", "v1", "resourcequotas"),
    Resource("NetworkPolicy", _NETWORKING, "v1", "networkpolicies"),
    Resource("Secret", "", "v1", "secrets"),
    Resource("Service", "", "v1", "services"),
    Resource("PodDisruptionBudget", "policy", "v1", "poddisruptionbudgets"),
    Resource("Deployment", "apps", "v1", "deployments"),
    Resource("Ingress", _NETWORKING, "v1", "ingresses"),
    Resource("ReplicaSet", "apps", "v1", "replicasets"),
    Resource("Pod", "", "v1", "pods"),
    Resource("Event", "", "v1", "events"),
    Resource("ConfigMap", "", "v1", "configmaps"),
    Resource("Certificate", "cert-manager.io", "v1", "certificates"),
)
RESOURCES: Mapping[str, Resource] = {resource.kind: resource for resource in _ALL}


def resource_of(wanted: Mapping[str, Any]) -> Resource:
    """The resource of an object. Raises KeyError for a kind that Pombo does not handle."""
    return RESOURCES[wanted["kind"]]


@dataclass(frozen=True, slots=True, order=True)
class ObjectKey:
    """What identifies an object in a cluster."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else self.short

    @property
    def short(self) -> str:
        """Kind and name, for places where the namespace is plain."""
        return f"{self.kind} {self.name}"


def key_of(wanted: Mapping[str, Any]) -> ObjectKey:
    """The identity of an object."""
    metadata = wanted["metadata"]
    return ObjectKey(wanted["kind"], metadata.get("namespace", ""), metadata["name"])
