"""What an environment should look like for a release: rendered from the tables, read only."""

from typing import Any

from django.conf import settings

from apps.delivery.context import DeliveryContext, as_context
from apps.delivery.infra import Infra, as_infra
from apps.delivery.manifests import baseline, runtime
from apps.delivery.models import App, Environment, Release

Manifest = dict[str, Any]
# Raised when the same release would render to other objects than before.
MANIFEST_VERSION = "1"


def infra() -> Infra:
    """The cluster's side of every render."""
    return as_infra(settings.DELIVERY_INFRA)


def release_config(app: App) -> dict[str, Any]:
    """The settings that a release freezes: those of the app and its plan, not of a place."""
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


def context_for(
    environment: Environment, release: Release, *, secrets_checksum: str = ""
) -> DeliveryContext:
    """The frozen settings of the release in the place of the environment, with its domains now.

    Raises DeliveryContextError.
    """
    app = environment.app
    domains = environment.domains.filter(verified_at__isnull=False).order_by("id")
    return as_context(
        {
            **release.config,
            "app_code": app.code,
            "namespace": environment.namespace,
            "hostname": environment.hostname,
            "image_repository": app.image_repository,
            "release_id": str(release.number),
            "performance_mode": environment.performance_mode,
            "custom_domains": list(domains.values_list("host", flat=True)),
            "secrets_checksum": secrets_checksum,
        }
    )


def image_ref(environment: Environment, release: Release) -> str:
    """The image of a release, by digest."""
    return f"{environment.app.image_repository}@{release.image_digest}"


def desired_objects(
    environment: Environment, release: Release, *, secrets_checksum: str = ""
) -> list[Manifest]:
    """All objects of the environment, secrets excepted. Raises DeliveryContextError."""
    context = context_for(environment, release, secrets_checksum=secrets_checksum)
    around = infra()
    return [
        *baseline(context, around),
        *runtime(context, around, image_ref(environment, release)),
    ]
