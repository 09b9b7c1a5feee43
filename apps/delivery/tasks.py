"""Entry points of background work."""

from django.utils import timezone

from apps.delivery.clusters import is_configured, shared_cluster
from apps.delivery.services import rollouts

# Shorter than the minute between two starts, so that the schedule never piles up.
DRIVE_SECONDS = 50.0


def drive_rollouts() -> None:
    """Every minute, and whenever a deployment is queued: carry open deployments on."""
    if is_configured():
        rollouts.drive(shared_cluster(), clock=timezone.now, max_seconds=DRIVE_SECONDS)
