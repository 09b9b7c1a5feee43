"""Objects as Pombo applies them, for tests that need some."""

from typing import Any

DIGEST = "sha256:" + "1" * 64
OTHER_DIGEST = "sha256:" + "2" * 64
LABELS = {"app.kubernetes.io/name": "loja", "app.kubernetes.io/managed-by": "pombo"}


def namespace(name: str = "loja-main", **labels: str) -> dict[str, Any]:
    metadata = {"name": name, "labels": LABELS | labels}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def config_map(name: str = "c", *, home: str = "loja-main", **data: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": home, "labels": dict(LABELS)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def deployment(
    *,
    name: str = "loja",
    home: str = "loja-main",
    digest: str = DIGEST,
    replicas: int = 2,
    deadline_seconds: int = 600,
    annotations: dict[str, str] | None = None,
    **container: Any,
) -> dict[str, Any]:
    labels = {"app.kubernetes.io/name": name}
    image = f"registry.example/pombo/{name}@{digest}"
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": home, "labels": LABELS | labels},
        "spec": {
            "replicas": replicas,
            "progressDeadlineSeconds": deadline_seconds,
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1},
            },
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels, "annotations": annotations or {}},
                "spec": {"containers": [{"name": "central", "image": image, **container}]},
            },
        },
    }
