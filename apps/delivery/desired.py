"""What an environment should look like for a release: rendered from the tables, read only."""

from typing import Any

from apps.delivery.context import DeliveryContext, as_context
from apps.delivery.manifests import baseline, runtime
from apps.delivery.models import Environment, Release
from apps.delivery.queries import current_infra, verified_hosts

Manifest = dict[str, Any]
# Raised when the same release would render to other objects than before.
MANIFEST_VERSION = "1"


def context_for(
    environment: Environment, release: Release, *, secrets_checksum: str = ""
) -> DeliveryContext:
    """The frozen settings of the release in the place of the environment, with its domains now.

    Raises DeliveryContextError.
    """
    app = environment.app
    return as_context(
        {
            **release.config,
            "app_code": app.code,
            "namespace": environment.namespace,
            "hostname": environment.hostname,
            "image_repository": app.image_repository,
            "release_id": str(release.number),
            "performance_mode": environment.performance_mode,
            "custom_domains": verified_hosts(environment),
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
    infra = current_infra()
    return [
        *baseline(context, infra),
        *runtime(context, infra, image_ref(environment, release)),
    ]
