"""The resident worker of process jobs inside a cluster of django-q2.

A slot is held by one task at a time. The task enqueues its own successor when its time is over; a
schedule starts it anew after a crash. `manage.py process_jobs work` is the same without django-q2.
"""

import logging

from django_q.tasks import async_task
from pymongo.errors import PyMongoError

from apps.delivery import mongodb
from apps.delivery.process_jobs.batch import redacted
from apps.delivery.process_jobs.workers import SignOfLife
from apps.delivery.services.process_jobs import claimable_models, new_queue
from apps.outbox.stopping import stop_requested

logger = logging.getLogger(__name__)

RESIDENT_SECONDS = 50
TASK = "apps.delivery.tasks.work_process_jobs"


def reside(slot: str) -> None:
    """Run jobs until the time is over or a stop is asked for; nothing if the slot is held."""
    if not mongodb.is_configured():
        return
    try:
        is_over = _work(slot)
    except PyMongoError as error:
        # The schedule tries again within a minute.
        logger.error("OON_PROCESS_JOBS_WORKER_FAILED", extra={"error": redacted(error)})  # noqa: TRY400 - the trace may hold the server's address with its password
        return
    if is_over and not stop_requested.is_set():
        async_task(TASK, slot)


def _work(slot: str) -> bool:
    """Whether the slot was ours and its time is over."""
    queue = new_queue(should_stop=stop_requested.is_set)
    queue.ensure_ready()
    name = f"resident-{slot}"
    with SignOfLife(mongodb.shared_database(), name, claimable_models) as sign:
        if sign.is_ours:
            queue.work(max_seconds=RESIDENT_SECONDS)
        return sign.is_ours
