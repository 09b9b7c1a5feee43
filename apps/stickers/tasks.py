"""Entry points of the runner."""

from django.utils import timezone

from apps.stickers.choices import WorkerTaskType
from apps.stickers.services import engagement, worker_tasks


def run_worker_tasks(task_type: str) -> None:
    """Run due tasks of one type."""
    worker_tasks.run_tasks(WorkerTaskType(task_type), now=timezone.now())


def schedule_cycle(task_type: str) -> None:
    """On its cadence: ask for a run, and have the queue looked at in any case."""
    worker_tasks.enqueue_task(WorkerTaskType(task_type))
    worker_tasks.start_runner(WorkerTaskType(task_type))


def prune_opens() -> None:
    """Forget single opens by age."""
    engagement.prune_opens(now=timezone.now())
