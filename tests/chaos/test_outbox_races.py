"""Random kills, stopped workers, late commits and two operators: nothing lost, nothing doubled.

CHAOS_EVENTS sets the number of events of the long test (400 by default, 20,000 for a release).
"""

import os
import random
import signal
import threading
from contextlib import ExitStack

import pytest
from django.db import connection, transaction

from apps.flags.models import FeatureFlag
from apps.outbox.events import NewEvent
from apps.outbox.models import OutboxDeadLetter, OutboxEvent, RedriveLog
from apps.outbox.services import publish, publish_many, redrive
from tests.processes import kill_group, running
from tests.waiting import wait_until

WORKER = ("-m", "tests.chaos.drainer")
EVENTS = int(os.environ.get("CHAOS_EVENTS", "400"))
KILLS = 4

pytestmark = [pytest.mark.chaos, pytest.mark.django_db(transaction=True)]


def completed() -> int:
    return OutboxEvent.objects.filter(status="completed").count()


def effects() -> list[str]:
    """The aggregates that had their effect, once for each time."""
    names = FeatureFlag.objects.filter(flag_name__startswith="effect-")
    return sorted(name.split("-")[1] for name in names.values_list("flag_name", flat=True))


def publish_counted(count: int, start: int = 0) -> list[str]:
    keys = [str(number) for number in range(start, start + count)]
    publish_many((NewEvent("COUNTED", "t", key, {}) for key in keys), outside_transaction=True)
    return sorted(keys)


def test_four_workers_killed_at_random_lose_and_double_nothing() -> None:
    keys = publish_counted(EVENTS)
    rng = random.Random(7)
    with ExitStack() as stack:
        workers = [stack.enter_context(running(*WORKER)) for _number in range(4)]
        for kill in range(1, KILLS + 1):
            wait_until(lambda: completed() >= EVENTS * kill // (KILLS + 2), seconds=120)  # noqa: B023 (called at once)
            kill_group(workers.pop(rng.randrange(len(workers))))
            workers.append(stack.enter_context(running(*WORKER)))
        wait_until(lambda: completed() == EVENTS, seconds=60 + EVENTS / 50)
    assert effects() == keys
    assert not OutboxDeadLetter.objects.exists()


def test_a_worker_stopped_past_its_lease_changes_nothing_when_it_goes_on() -> None:
    keys = publish_counted(300)
    with running(*WORKER, "3") as sleeper:
        wait_until(lambda: completed() > 0)
        os.kill(sleeper.pid, signal.SIGSTOP)
        with running(*WORKER, "3"):
            # The event it was stopped in stays locked by its open transaction; in SQLite all do.
            if connection.vendor != "sqlite":
                wait_until(lambda: completed() >= 299, seconds=60)
            os.kill(sleeper.pid, signal.SIGCONT)
            wait_until(lambda: completed() == 300, seconds=60)
    assert effects() == keys


def test_a_transaction_that_commits_late_is_not_skipped() -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has one writer: nobody else can commit meanwhile")
    is_written, may_commit = threading.Event(), threading.Event()

    def publish_slowly() -> None:
        with transaction.atomic():
            publish("COUNTED", "t", "early", {})
            is_written.set()
            assert may_commit.wait(60)
        connection.close()

    thread = threading.Thread(target=publish_slowly)
    thread.start()
    assert is_written.wait(30)
    later = publish_counted(50)
    with running(*WORKER):
        wait_until(lambda: completed() == 50)
        may_commit.set()
        thread.join()
        wait_until(lambda: completed() == 51)
    assert effects() == sorted([*later, "early"])


def test_two_operators_who_redrive_at_once_move_each_event_once() -> None:
    publish_many(
        (NewEvent("X", "t", str(number), {}) for number in range(100)), outside_transaction=True
    )
    OutboxEvent.objects.update(status="failed", attempts=10)
    ids = list(OutboxEvent.objects.values_list("pk", flat=True))
    start, moved = threading.Barrier(2), []

    def decide(actor: str, chosen: list[int]) -> None:
        start.wait(30)
        moved.extend(redrive(chosen, actor=actor, reason="mended"))
        connection.close()

    operators = [
        threading.Thread(target=decide, args=("ana", ids)),
        threading.Thread(target=decide, args=("rui", ids[::-1])),
    ]
    for thread in operators:
        thread.start()
    for thread in operators:
        thread.join()
    assert sorted(moved) == ids
    assert RedriveLog.objects.count() == 100
