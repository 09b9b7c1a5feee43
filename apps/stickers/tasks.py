"""Entry points of the runner."""

from django.utils import timezone

from apps.stickers import object_storage
from apps.stickers.choices import WorkerTaskType
from apps.stickers.services import (
    assets,
    drafts,
    engagement,
    objects,
    processing,
    worker_tasks,
)


def run_worker_tasks(task_type: str) -> None:
    """Run due tasks of one type."""
    worker_tasks.run_tasks(WorkerTaskType(task_type), now=timezone.now())


def schedule_cycle(task_type: str) -> None:
    """On its cadence: ask for a run, and have the queue looked at in any case."""
    worker_tasks.enqueue_task(WorkerTaskType(task_type))
    worker_tasks.start_runner(WorkerTaskType(task_type))


def recover_uploads() -> None:
    """Every minute: bring back uploads that nobody works on."""
    processing.recover_uploads(now=timezone.now())


def clean_drafts() -> None:
    """Now and then: delete drafts that nobody came back to, and files of forgotten uploads."""
    drafts.clean_drafts(now=timezone.now())
    processing.remove_stray_sources()


def heal_object_storage() -> None:
    """Every minute: see whether the storage answers, and make up for what was missed."""
    if object_storage.is_configured():
        objects.heal(now=timezone.now())


def purge_deleted_packs() -> None:
    """Every hour: let go of the stickers of packs that were deleted long ago."""
    assets.purge_deleted_packs(now=timezone.now())


def prune_opens() -> None:
    """Forget single opens by age."""
    engagement.prune_opens(now=timezone.now())
