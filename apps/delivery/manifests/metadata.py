"""Names, labels and annotations that all objects of an app share."""

from collections.abc import Mapping
from typing import Any, Final

from apps.delivery.context import DeliveryContext

Manifest = dict[str, Any]

NAME_LABEL: Final = "app.kubernetes.io/name"
MANAGED_BY_LABEL: Final = "app.kubernetes.io/managed-by"
MANAGER: Final = "pombo"
RELEASE_LABEL: Final = "oon.dev/release"
RELEASE_ANNOTATION: Final = "oon.dev/release-id"
SECRETS_CHECKSUM_ANNOTATION: Final = "oon.dev/secrets-checksum"
CLUSTER_ISSUER_ANNOTATION: Final = "cert-manager.io/cluster-issuer"
POD_SECURITY_LABEL: Final = "pod-security.kubernetes.io/"

SERVICE_ACCOUNT_NAME: Final = "oon-runtime"
RUNTIME_SECRET_NAME: Final = "oon-runtime"  # noqa: S105 - the name of a Secret object
CORE_SECRETS_NAME: Final = "oon-core-secrets"
QUOTA_NAME: Final = "oon-runtime-quota"
LIMITS_NAME: Final = "oon-runtime-limits"
NETWORK_POLICY_NAME: Final = "oon-runtime"


def membership_labels(app_code: str) -> dict[str, str]:
    """What tells the objects of an app that we manage; pruning selects by exactly these."""
    return {NAME_LABEL: app_code, MANAGED_BY_LABEL: MANAGER}


def selector_labels(app_code: str) -> dict[str, str]:
    """What selects the app's pods; immutable in a Deployment, so it holds no release."""
    return {NAME_LABEL: app_code}


def namespaced(
    name: str, context: DeliveryContext, *, annotations: Mapping[str, str] | None = None
) -> Manifest:
    """The metadata of an object in the app's namespace."""
    metadata: Manifest = {
        "name": name,
        "namespace": context.namespace,
        "labels": membership_labels(context.app_code),
    }
    if annotations:
        metadata["annotations"] = dict(annotations)
    return metadata
