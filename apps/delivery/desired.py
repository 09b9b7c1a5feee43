"""What an environment should look like for a release: rendered from the tables, read only."""

from typing import Any

from apps.delivery.context import DeliveryContext
from apps.delivery.manifests import baseline, runtime
from apps.delivery.models import Environment, Release
from apps.delivery.queries import current_infra, placed_context

Manifest = dict[str, Any]
# Raised when the same release would render to other objects than before.
MANIFEST_VERSION = "1"


def context_for(
    environment: Environment, release: Release, *, secrets_checksum: str = ""
) -> DeliveryContext:
    """The frozen settings of the release in the place of the environment, with its domains now.

    Raises DeliveryContextError.
    """
    return placed_context(
        environment,
        release.config,
        release_id=str(release.number),
        secrets_checksum=secrets_checksum,
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
