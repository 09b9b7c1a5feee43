"""Reads of delivery: the settings of an app, and what an environment would look like."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.conf import settings

from apps.delivery.context import DeliveryContext, as_context
from apps.delivery.infra import Infra, as_infra
from apps.delivery.manifests import baseline, runtime
from apps.delivery.models import App, Environment
from apps.delivery.policy import Finding, check_objects

# Stands for the release in a preview, which has none yet.
PREVIEW_RELEASE_ID: Final = "preview"
PREVIEW_DIGEST: Final = "sha256:" + "0" * 64


def current_infra() -> Infra:
    """The cluster that the settings describe. Raises DeliveryContextError."""
    return as_infra(settings.DELIVERY_INFRA)


def app_settings(app: App) -> dict[str, Any]:
    """The settings of an app and its plan, by the names of a delivery context."""
    return {
        "replicas": app.plan.slots,
        "resource_profile": app.plan.resource_profile,
        "functional_capabilities": app.plan.capabilities,
        "pod_security": app.pod_security,
        "run_as_user": app.run_as_user,
        "writable_paths": app.writable_paths,
        "egress": app.egress,
        "liveness_path": app.liveness_path,
    }


def verified_hosts(environment: Environment) -> list[str]:
    """The custom domains that are routed, in the order in which they were added."""
    # Sorted here, so that a list of environments may bring its domains along in one query.
    verified = [domain for domain in environment.domains.all() if domain.verified_at is not None]
    return [domain.host for domain in sorted(verified, key=lambda domain: domain.pk)]


def placed_context(
    environment: Environment,
    app_settings: Mapping[str, Any],
    *,
    release_id: str,
    secrets_checksum: str = "",
) -> DeliveryContext:
    """Settings of an app in the place of an environment, with its domains now.

    Raises DeliveryContextError.
    """
    return as_context(
        {
            **app_settings,
            "app_code": environment.app.code,
            "namespace": environment.namespace,
            "hostname": environment.hostname,
            "image_repository": environment.app.image_repository,
            "release_id": release_id,
            "performance_mode": environment.performance_mode,
            "custom_domains": verified_hosts(environment),
            "secrets_checksum": secrets_checksum,
        }
    )


def preview_context(environment: Environment) -> DeliveryContext:
    """The context of an environment as its tables stand now. Raises DeliveryContextError."""
    return placed_context(environment, app_settings(environment.app), release_id=PREVIEW_RELEASE_ID)


def preview_objects(
    environment: Environment, *, image_digest: str = PREVIEW_DIGEST
) -> list[dict[str, Any]]:
    """All objects of an environment, without a cluster. Raises DeliveryContextError."""
    context, infra = preview_context(environment), current_infra()
    image_ref = f"{context.image_repository}@{image_digest}"
    return [*baseline(context, infra), *runtime(context, infra, image_ref)]


def preview_findings(objects: Sequence[dict[str, Any]]) -> list[Finding]:
    """What is wrong with rendered objects, for the cluster that the settings describe."""
    return check_objects(objects, current_infra())
