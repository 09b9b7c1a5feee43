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
from apps.stickers.curation.rules import Mode
from apps.stickers.models import WorkerTask, WorkerTaskDeadLetter
from apps.stickers.services import classification_cycle, curation, snapshots
from apps.stickers.task_requests import (
    DEFAULT_ATTEMPTS,
    DEFAULT_PRIORITY,
    TaskRequest,
    normalize_task,
)

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
CURATION_ACTOR = "worker"
PENDING_KEY = "pending:"
COMPLETED_KEPT_SECONDS = 7 * 86_400
PRUNED_AT_ONCE = 1000
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
    task_type: WorkerTaskType | str,
    *,
    priority: int | None = None,
    payload: Mapping[str, Any] | None = None,
    idempotency_key: str | None = None,
    max_attempts: int = DEFAULT_ATTEMPTS,
) -> bool:
    """Ask for a run of a cycle; tells whether it is a new task.

    Without a key it falls onto a pending task of its type. A given key holds until its row is
    pruned. Nothing is asked for when there is no such type.
    """
    usual = {str(kind): value for kind, value in SCHEDULED_PRIORITY.items()}
    request = normalize_task(
        task_type,
        priority=usual.get(task_type, DEFAULT_PRIORITY) if priority is None else priority,
        max_attempts=max_attempts,
        payload=payload,
        idempotency_key=idempotency_key,
    )
    return request is not None and _enqueue(request)


@transaction.atomic
def _enqueue(request: TaskRequest) -> bool:
    task, is_new = WorkerTask.objects.get_or_create(
        idempotency_key=request.idempotency_key or f"{PENDING_KEY}{request.task_type}",
        defaults={
            "task_type": request.task_type,
            "payload": dict(request.payload),
            "priority": request.priority,
            "max_attempts": request.max_attempts,
        },
    )
    if is_new:
        transaction.on_commit(lambda: start_runner(request.task_type))
    elif task.priority < request.priority:
        # Whoever is in more of a hurry pulls the task forward, never its pause after a failure.
        pending = WorkerTask.objects.filter(pk=task.pk, status=LeaseStatus.PENDING)
        pending.update(priority=request.priority, updated_at=now_seconds())
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
    WorkerTask.objects.filter(pk=row.id, idempotency_key__startswith=PENDING_KEY).update(
        idempotency_key=None
    )
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
    TASK_QUEUE.prune(older_than_seconds=COMPLETED_KEPT_SECONDS, limit=PRUNED_AT_ONCE)
    report = classification_cycle.run_cycle(now=now)
    if report.has_more:
        enqueue_task(WorkerTaskType.CLASSIFICATION_CYCLE)


def _curation_cycle(now: datetime) -> None:
    _curate(Mode.ADDITIONS, WorkerTaskType.CURATION_CYCLE, now=now)


def _rebuild_cycle(now: datetime) -> None:
    snapshots.refresh_stale(now=now)
    _curate(Mode.REBUILD, WorkerTaskType.REBUILD_CYCLE, now=now)


def _curate(mode: Mode, task_type: WorkerTaskType, *, now: datetime) -> None:
    """One run of the curation; packs that changed meanwhile have their turn in another."""
    if not settings.CURATION_ENABLED:
        return
    report = curation.run_curation(mode, actor=CURATION_ACTOR, now=now, keeps_quiet=True)
    if report.skipped:
        enqueue_task(task_type)


CYCLES: Mapping[WorkerTaskType, Callable[[datetime], None]] = {
    WorkerTaskType.CLASSIFICATION_CYCLE: _classification_cycle,
    WorkerTaskType.CURATION_CYCLE: _curation_cycle,
    WorkerTaskType.REBUILD_CYCLE: _rebuild_cycle,
}
