"""The resources the server knows, and what differs between them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """One resource: its place in the API and which metadata and status it carries."""

    group: str
    version: str
    plural: str
    name: str
    is_namespaced: bool = True
    has_generation: bool = False
    has_status: bool = False

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """The form in messages about requests: `deployments.apps`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def qualified(self) -> str:
        """The form in messages about objects: `Deployment.apps`."""
        return f"{self.name}.{self.group}" if self.group else self.name


_ALL = [
    Kind("", "v1", "namespaces", "Namespace", is_namespaced=False, has_status=True),
    Kind("", "v1", "configmaps", "ConfigMap"),
    Kind("", "v1", "events", "Event"),
    Kind("", "v1", "limitranges", "LimitRange"),
    Kind("", "v1", "pods", "Pod", has_generation=True, has_status=True),
    Kind("", "v1", "resourcequotas", "ResourceQuota", has_status=True),
    Kind("", "v1", "secrets", "Secret"),
    Kind("", "v1", "serviceaccounts", "ServiceAccount"),
    Kind("", "v1", "services", "Service", has_status=True),
    Kind("apps", "v1", "deployments", "Deployment", has_generation=True, has_status=True),
    Kind("apps", "v1", "replicasets", "ReplicaSet", has_generation=True, has_status=True),
    Kind("networking.k8s.io", "v1", "ingresses", "Ingress", has_generation=True, has_status=True),
    Kind("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", has_generation=True),
    Kind(
        "policy",
        "v1",
        "poddisruptionbudgets",
        "PodDisruptionBudget",
        has_generation=True,
        has_status=True,
    ),
    Kind("cert-manager.io", "v1", "certificates", "Certificate", has_generation=True),
]
BY_PATH = {(kind.group, kind.version, kind.plural): kind for kind in _ALL}
BY_NAME = {kind.name: kind for kind in _ALL}
GROUPS = {(kind.group, kind.version) for kind in _ALL}
