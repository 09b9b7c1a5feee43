"""Telling a worker that there is a deployment to drive."""

from django_q.tasks import async_task

_TASK = "apps.delivery.tasks.drive_rollouts"


def wake_rollouts() -> None:
    """Start a worker now instead of at the next minute; a second one finds nothing to claim."""
    async_task(_TASK, group="delivery", save=False)
