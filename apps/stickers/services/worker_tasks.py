"""The worker tasks: equal pending work runs once, and what arrives while it runs runs once more.

A pending task carries the key `pending:<type>`, so a second one falls onto it. A task gives its key
up before it starts to work: what is enqueued from then on is a task of its own.
"""

import logging
import random
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django_q.tasks import async_task

from apps.common.choices import LeaseStatus
from apps.common.fields import now_seconds
from apps.common.leased_queue import Claim, LeasedQueue, kept_alive
from apps.flags.services import is_enabled
from apps.outbox.retry import RetryPolicy
from apps.outbox.stopping import stop_requested
from apps.stickers.choices import WorkerTaskType
from apps.stickers.models import WorkerTask, WorkerTaskDeadLetter
from apps.stickers.services import classification_cycle, snapshots

logger = logging.getLogger(__name__)

RUN_TASK = "apps.stickers.tasks.run_worker_tasks"
DEDICATED_FLAG = "enable_worker_dedicated_processes"
CLUSTER_OF = {
    WorkerTaskType.CLASSIFICATION_CYCLE: "classification",
    WorkerTaskType.CURATION_CYCLE: "curation",
    WorkerTaskType.REBUILD_CYCLE: "rebuild",
}
SCHEDULED_PRIORITY = {
    WorkerTaskType.CLASSIFICATION_CYCLE: 70,
    WorkerTaskType.CURATION_CYCLE: 55,
    WorkerTaskType.REBUILD_CYCLE: 50,
}
RETRY = RetryPolicy(base_seconds=5)
# Longer than a cycle takes: a cluster that works gets to a waiting task sooner.
LEFT_ALONE_AFTER = timedelta(minutes=10)

TASK_QUEUE = LeasedQueue(
    model=WorkerTask,
    due="scheduled_at",
    columns=("task_type",),
    group="task_type",
    dead_letter=WorkerTaskDeadLetter,
    copied={
        "task_id": "pk",
        "task_type": "task_type",
        "payload": "payload",
        "idempotency_key": "idempotency_key",
        "attempts": "attempts",
        "max_attempts": "max_attempts",
        "priority": "priority",
        "last_error": "last_error",
    },
)


def enqueue_task(
    task_type: WorkerTaskType,
    *,
    priority: int | None = None,
    payload: Mapping[str, Any] | None = None,
) -> bool:
    """Ask for a run of a cycle; tells whether it is a new task or fell onto a pending one."""
    with transaction.atomic():
        _task, is_new = WorkerTask.objects.get_or_create(
            idempotency_key=f"pending:{task_type}",
            defaults={
                "task_type": task_type,
                "payload": dict(payload or {}),
                "priority": priority or SCHEDULED_PRIORITY[task_type],
            },
        )
        if is_new:
            transaction.on_commit(lambda: start_runner(task_type))
    return is_new


def redrive(ids: Sequence[int]) -> list[int]:
    """Send dead tasks back with fresh attempts; tells which ones moved."""
    return TASK_QUEUE.redrive(ids)


def start_runner(task_type: WorkerTaskType) -> None:
    """Have the cluster that runs this type look at the queue."""
    async_task(RUN_TASK, str(task_type), cluster=cluster_of(task_type))


def cluster_of(task_type: WorkerTaskType) -> str | None:
    """The cluster that runs a type: its own when the flag is on, else the default (None).

    The one place that decides it, for whoever enqueues and whoever runs. A type whose own cluster
    leaves its tasks alone, because nobody has started it, goes to the default one, so that no task
    is ever without a runner.
    """
    is_dedicated = is_enabled(DEDICATED_FLAG, subject_key=f"worker:{task_type}", fallback=False)
    return CLUSTER_OF[task_type] if is_dedicated and not _is_left_alone(task_type) else None


def _is_left_alone(task_type: WorkerTaskType) -> bool:
    overdue = now_seconds() - LEFT_ALONE_AFTER
    pending = WorkerTask.objects.filter(task_type=task_type, status=LeaseStatus.PENDING)
    return pending.filter(scheduled_at__lt=overdue).exists()


def run_tasks(task_type: WorkerTaskType, *, now: datetime) -> int:
    """Run due tasks of a type until there is none or a stop is asked for; tells how many."""
    lease_seconds = settings.OUTBOX_LEASE_SECONDS
    count = 0
    while not stop_requested.is_set():
        claim = TASK_QUEUE.claim(1, lease_seconds=lease_seconds, group=str(task_type))
        if claim is None:
            break
        with kept_alive(TASK_QUEUE, claim.token, lease_seconds=lease_seconds):
            _run(claim, task_type, now=now)
        count += 1
    return count


def _run(claim: Claim, task_type: WorkerTaskType, *, now: datetime) -> None:
    (row,) = claim.rows
    WorkerTask.objects.filter(pk=row.id).update(idempotency_key=None)
    try:
        CYCLES[task_type](now)
    except Exception as error:  # noqa: BLE001 (a failed cycle is retried, and ends as a dead letter)
        _fail(claim, error)
        return
    TASK_QUEUE.complete([row.id], token=claim.token)


def _fail(claim: Claim, error: Exception) -> None:
    (row,) = claim.rows
    logger.warning("stickers.task_failed", extra={"task_id": row.id}, exc_info=error)
    text = f"{type(error).__name__}: {error}"
    if row.is_last_attempt:
        TASK_QUEUE.bury([row], token=claim.token, error=text)
        return
    delay = RETRY.delay_seconds(row.attempts, rng=random.Random(row.id))  # noqa: S311 (jitter)
    TASK_QUEUE.retry([row.id], token=claim.token, error=text, delay_seconds=delay)


def _classification_cycle(now: datetime) -> None:
    report = classification_cycle.run_cycle(now=now)
    if report.has_more:
        enqueue_task(WorkerTaskType.CLASSIFICATION_CYCLE)


def _rebuild_cycle(now: datetime) -> None:
    snapshots.refresh_stale(now=now)


CYCLES: Mapping[WorkerTaskType, Callable[[datetime], None]] = {
    WorkerTaskType.CLASSIFICATION_CYCLE: _classification_cycle,
    WorkerTaskType.REBUILD_CYCLE: _rebuild_cycle,
}
