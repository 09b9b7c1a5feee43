"""The ground an app stands on: namespace, account, limits, quota and network policies."""

from collections.abc import Mapping
from typing import Any

from apps.delivery.context import DeliveryContext, as_context
from apps.delivery.infra import Infra, as_infra
from apps.delivery.manifests.metadata import (
    LIMITS_NAME,
    POD_SECURITY_LABEL,
    SERVICE_ACCOUNT_NAME,
    Manifest,
    membership_labels,
    namespaced,
)
from apps.delivery.manifests.network import network_policies
from apps.delivery.manifests.quota import resource_quota
from apps.delivery.profiles import (
    EPHEMERAL_STORAGE_LIMIT,
    EPHEMERAL_STORAGE_REQUEST,
    RESOURCE_PROFILES,
)


def baseline(
    context: Mapping[str, Any] | DeliveryContext, infra: Mapping[str, Any] | Infra
) -> list[Manifest]:
    """The objects that must exist before an app runs, in the order in which they are applied.

    Raises DeliveryContextError.
    """
    context, infra = as_context(context), as_infra(infra)
    return [
        _namespace(context),
        _service_account(context),
        _limit_range(context),
        resource_quota(context),
        *network_policies(context, infra),
    ]


def _namespace(context: DeliveryContext) -> Manifest:
    """The namespace; adopted apps are enforced at baseline, and told what restricted refuses."""
    levels = {"enforce": context.pod_security, "audit": "restricted", "warn": "restricted"}
    labels = membership_labels(context.app_code)
    for mode, level in levels.items():
        labels[f"{POD_SECURITY_LABEL}{mode}"] = level
        labels[f"{POD_SECURITY_LABEL}{mode}-version"] = "latest"
    metadata = {"name": context.namespace, "labels": labels}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def _service_account(context: DeliveryContext) -> Manifest:
    """An account without a token: apps have no business with the API server."""
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": namespaced(SERVICE_ACCOUNT_NAME, context),
        "automountServiceAccountToken": False,
    }


def _limit_range(context: DeliveryContext) -> Manifest:
    """What containers get that name nothing, so that the quota never refuses them for it."""
    profile = RESOURCE_PROFILES[context.resource_profile]
    item = {
        "type": "Container",
        "default": {**profile.limits(), "ephemeral-storage": EPHEMERAL_STORAGE_LIMIT},
        "defaultRequest": {**profile.requests(), "ephemeral-storage": EPHEMERAL_STORAGE_REQUEST},
    }
    return {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": namespaced(LIMITS_NAME, context),
        "spec": {"limits": [item]},
    }
