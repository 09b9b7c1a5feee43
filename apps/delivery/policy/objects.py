"""How the rules look at objects: pod templates, containers, and neighbours in a namespace."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

_TEMPLATE_PATHS: Final[Mapping[str, str]] = {
    "Deployment": "spec.template",
    "ReplicaSet": "spec.template",
    "StatefulSet": "spec.template",
    "DaemonSet": "spec.template",
    "Job": "spec.template",
    "CronJob": "spec.jobTemplate.spec.template",
}


@dataclass(frozen=True, slots=True)
class Container:
    """A container and where it stands."""

    path: str
    fields: Mapping[str, Any]
    is_init: bool


@dataclass(frozen=True, slots=True)
class Pods:
    """The pods that an object makes, and where their template stands."""

    path: str
    metadata: Mapping[str, Any]
    spec: Mapping[str, Any]

    def containers(self) -> Iterator[Container]:
        """First the init containers, then the others."""
        for name in ("initContainers", "containers"):
            for place, fields in enumerate(self.spec.get(name) or ()):
                yield Container(f"{self.path}.{name}[{place}]", fields, name == "initContainers")


class Neighbours:
    """All objects of a check, to be asked for by kind and namespace."""

    def __init__(self, objects: Sequence[Mapping[str, Any]]) -> None:
        self._objects = objects

    def of_kind(self, kind: str, namespace: str | None = None) -> list[Mapping[str, Any]]:
        """The objects of a kind, in one namespace or in all."""
        return [
            item
            for item in self._objects
            if item["kind"] == kind and namespace in (None, namespace_of(item))
        ]


def namespace_of(manifest: Mapping[str, Any]) -> str:
    """The namespace of an object, empty where it has none."""
    return str((manifest.get("metadata") or {}).get("namespace") or "")


def labels_of(metadata: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """The labels of some metadata."""
    return (metadata or {}).get("labels") or {}


def pods_of(manifest: Mapping[str, Any]) -> Pods | None:
    """The pods that an object makes, or None where it makes none."""
    if manifest["kind"] == "Pod":
        return Pods("spec", manifest.get("metadata") or {}, manifest.get("spec") or {})
    path = _TEMPLATE_PATHS.get(manifest["kind"])
    if path is None:
        return None
    template = field(manifest, path) or {}
    return Pods(f"{path}.spec", template.get("metadata") or {}, template.get("spec") or {})


def field(manifest: Mapping[str, Any], path: str) -> Any:
    """The value at a dotted path of field names, or None."""
    value: Any = manifest
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def selects(match_labels: Mapping[str, Any] | None, labels: Mapping[str, Any]) -> bool:
    """True when the labels have all that is asked for."""
    return (match_labels or {}).items() <= labels.items()
