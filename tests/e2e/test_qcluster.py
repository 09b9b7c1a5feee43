"""A cluster that is asked to stop does so at once and leaves nothing leased."""

import signal
import time

import pytest
from django_q.models import OrmQ
from django_q.tasks import async_task

from apps.outbox.models import DrainSlot, OutboxEvent
from apps.outbox.services import publish
from tests.processes import running
from tests.waiting import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.django_db(transaction=True)]


def test_w6_a_stop_ends_resident_tasks_within_seconds() -> None:
    async_task("apps.outbox.tasks.drain", "1")
    with running("manage.py", "qcluster") as cluster:
        wait_until(lambda: DrainSlot.objects.filter(held_until__isnull=False).exists())
        publish("NOBODY_LISTENS", "t", "1", outside_transaction=True)
        wait_until(lambda: OutboxEvent.objects.get().status == "completed")
        started = time.monotonic()
        cluster.send_signal(signal.SIGINT)
        assert cluster.wait(timeout=30) == 0
        assert time.monotonic() - started < 15  # far below the 50 s that a resident may stay
    assert not OutboxEvent.objects.filter(status="processing").exists()
    assert not DrainSlot.objects.filter(held_until__isnull=False).exists()
    assert not OrmQ.objects.exists()
