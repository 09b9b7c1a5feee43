"""The resident drain: one task per slot that stays, works, sleeps until woken, and hands over.

A slot is held by one task at a time, by a row that its holder renews. The task enqueues its own
successor when its time is over, so that there is no gap; a schedule starts it anew after a crash.
A database that goes away for a while (a restart, a failover) only makes it wait.
"""

import logging
import time
import uuid
from datetime import timedelta

from django.db import connection
from django.db.models import Q
from django.utils import timezone
from django_q.tasks import async_task

from apps.common.dialects import is_connection_lost
from apps.outbox.models import DrainSlot
from apps.outbox.queue import EVENT_QUEUE
from apps.outbox.services.draining import drain
from apps.outbox.stopping import stop_requested
from apps.outbox.waking import wait_for_work

logger = logging.getLogger(__name__)

RESIDENT_SECONDS = 50
ROUND_SECONDS = 5
HOLD_SECONDS = 20
RECONNECT_SECONDS = 1.0
TASK = "apps.outbox.tasks.drain"


def reside(slot: str) -> None:
    """Handle events until the time is over or a stop is asked for; nothing if the slot is held."""
    holder = str(uuid.uuid4())
    until = time.monotonic() + RESIDENT_SECONDS
    try:
        while not stop_requested.is_set() and time.monotonic() < until:
            if not _work_a_round(slot, holder):
                return
    finally:
        _release(slot, holder)
    if not stop_requested.is_set():
        async_task(TASK, slot)


def _work_a_round(slot: str, holder: str) -> bool:
    """Renew the slot, drain, sleep until work is due; False when somebody else has the slot."""
    try:
        if not _take(slot, holder):
            return False
        drain(ROUND_SECONDS)
        wait_for_work(_idle_seconds())
    except Exception as error:
        if not is_connection_lost(error):
            raise
        logger.warning("outbox.database_unavailable", exc_info=True)
        connection.close()
        stop_requested.wait(RECONNECT_SECONDS)
    return True


def _idle_seconds() -> float:
    """How long nothing is due, at most a round."""
    wait = EVENT_QUEUE.seconds_until_due()
    return ROUND_SECONDS if wait is None else min(ROUND_SECONDS, wait)


def _release(slot: str, holder: str) -> None:
    """Let the slot go; one that cannot be let go now is free when its time is over."""
    try:
        DrainSlot.objects.filter(name=slot, holder=holder).update(held_until=None)
    except Exception as error:
        if not is_connection_lost(error):
            raise
        connection.close()


def _take(slot: str, holder: str) -> bool:
    """Take or renew the slot; False when another task holds it."""
    now = timezone.now()
    DrainSlot.objects.get_or_create(name=slot)
    until = now + timedelta(seconds=HOLD_SECONDS)
    is_over = Q(held_until=None) | Q(held_until__lt=now)
    # Longer than anyone may hold it: a machine whose clock was ahead has died with it.
    is_impossible = Q(held_until__gt=until)
    free = Q(holder=holder) | is_over | is_impossible
    taken = DrainSlot.objects.filter(free, name=slot).update(holder=holder, held_until=until)
    return taken == 1
