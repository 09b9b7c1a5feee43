"""The app itself: Deployment, disruption budget, Service and the ways in."""

from collections.abc import Mapping
from typing import Any, Final

from apps.delivery.context import DeliveryContext, as_context
from apps.delivery.errors import DeliveryContextError
from apps.delivery.infra import Infra, as_infra
from apps.delivery.manifests.domains import custom_domain_ingresses
from apps.delivery.manifests.ingress import platform_ingress
from apps.delivery.manifests.metadata import Manifest, namespaced, selector_labels
from apps.delivery.manifests.pods import pod_template

# Old ReplicaSets that stay, so that a rollback by hand needs no Pombo.
REVISION_HISTORY_LIMIT: Final = 5
# Longer than the startup probe gives a container, so that it is the probe that gives the reason.
PROGRESS_DEADLINE_SECONDS: Final = 600
SERVICE_PORT: Final = 80


def runtime(
    context: Mapping[str, Any] | DeliveryContext,
    infra: Mapping[str, Any] | Infra,
    image_ref: str,
) -> list[Manifest]:
    """The objects of one release, in the order in which they are applied.

    `image_ref` is the image with its digest. Raises DeliveryContextError.
    """
    context, infra = as_context(context), as_infra(infra)
    if not isinstance(image_ref, str) or not image_ref or not image_ref.isprintable():
        raise DeliveryContextError("image_ref", "must name an image", value=image_ref)
    return [
        _deployment(context, infra, image_ref),
        _disruption_budget(context),
        _service(context),
        platform_ingress(context, infra),
        *custom_domain_ingresses(context, infra),
    ]


def _deployment(context: DeliveryContext, infra: Infra, image_ref: str) -> Manifest:
    """The pods; an update starts a new one before an old one stops."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": namespaced(context.app_code, context),
        "spec": {
            "replicas": context.replicas,
            "revisionHistoryLimit": REVISION_HISTORY_LIMIT,
            "progressDeadlineSeconds": PROGRESS_DEADLINE_SECONDS,
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1},
            },
            "selector": {"matchLabels": selector_labels(context.app_code)},
            "template": pod_template(context, infra, image_ref),
        },
    }


def _disruption_budget(context: DeliveryContext) -> Manifest:
    """Nodes are drained one replica at a time.

    Counted from what may be missing, so that a single replica never blocks a node; a pod that is
    not ready protects nobody and may always go.
    """
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": namespaced(context.app_code, context),
        "spec": {
            "maxUnavailable": 1,
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
            "selector": {"matchLabels": selector_labels(context.app_code)},
        },
    }


def _service(context: DeliveryContext) -> Manifest:
    """The one address of all replicas."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": namespaced(context.app_code, context),
        "spec": {
            "selector": selector_labels(context.app_code),
            "ports": [{"name": "http", "port": SERVICE_PORT, "targetPort": "http"}],
        },
    }
