"""Faults that were reported in public about other outboxes and queues, as promises of this one."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable

import pytest
from django.db import connection

from apps.common.leased_queue import kept_alive
from apps.outbox.events import Event, NewEvent
from apps.outbox.models import OutboxDeadLetter, OutboxEvent
from apps.outbox.queue import EVENT_QUEUE
from apps.outbox.registry import handles
from apps.outbox.services import drain, publish, publish_many
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def in_threads(*works: Callable[[], None]) -> None:
    """Run each on a thread and a connection of its own; the first error is raised."""
    errors: list[Exception] = []

    def run(work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 (raised again below, in the test's own thread)
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def is_finished() -> bool:
    return not OutboxEvent.objects.exclude(status="completed").exists()


def drain_until_finished() -> None:
    while not is_finished():
        drain(5, batch_size=10)
        time.sleep(0.01)


def test_two_workers_send_two_hundred_rows_once_each_and_both_work() -> None:
    """django-outbox-pattern #44: every publisher sent every row."""
    sent: dict[str, list[str]] = defaultdict(list)
    both_work = threading.Barrier(2)

    @handles("X")
    def send(event: Event) -> None:
        worker = threading.current_thread().name
        if worker not in sent:
            sent[worker] = []
            both_work.wait(20)
        sent[worker].append(event.aggregate_id)

    publish_many((NewEvent("X", "t", str(n), {}) for n in range(200)), outside_transaction=True)
    in_threads(drain_until_finished, drain_until_finished)
    assert len(sent) == 2
    assert sorted(key for keys in sent.values() for key in keys) == sorted(
        str(number) for number in range(200)
    )


def test_events_of_an_aggregate_arrive_in_order_while_others_go_on_in_parallel() -> None:
    """MassTransit #3512: order was lost with several publishers."""
    arrived: dict[str, list[int]] = defaultdict(list)
    handles("X", ordered=True)(lambda event: arrived[event.aggregate_id].append(event.payload["n"]))
    turns = {"a": threading.Lock(), "b": threading.Lock()}

    def publish_in_turn() -> None:
        for _number in range(25):
            for key, turn in turns.items():
                # The lock stands for the aggregate's row, which publishers lock first.
                with turn:
                    count = OutboxEvent.objects.filter(aggregate_id=key).count()
                    publish("X", "t", key, {"n": count}, outside_transaction=True)

    in_threads(*[publish_in_turn] * 4)
    in_threads(drain_until_finished, drain_until_finished)
    assert arrived == {"a": list(range(100)), "b": list(range(100))}


def test_claimers_and_an_inserter_meet_no_error_and_no_row_twice() -> None:
    """solid_queue #240, #531, #609: deadlocks between claiming and inserting."""
    seen: list[int] = []
    inserted = threading.Event()

    def insert() -> None:
        for start in range(0, 600, 50):
            events = (NewEvent("X", "t", str(n), {}) for n in range(start, start + 50))
            publish_many(events, outside_transaction=True)
        inserted.set()

    def claim() -> None:
        while not (inserted.is_set() and is_finished()):
            taken = EVENT_QUEUE.claim(20, lease_seconds=60)
            if taken is not None:
                ids = [row.id for row in taken.rows]
                seen.extend(ids)
                EVENT_QUEUE.complete(ids, token=taken.token)

    in_threads(insert, *[claim] * 8)
    assert len(seen) == len(set(seen)) == 600


def test_a_job_longer_than_its_lease_runs_once_while_its_heart_beats() -> None:
    """hexpm #1825: long jobs were started again by others."""
    publish("X", "t", "1", outside_transaction=True)
    claim = EVENT_QUEUE.claim(1, lease_seconds=1)
    assert claim is not None
    others: list[object] = []
    until = time.monotonic() + 4
    with kept_alive(EVENT_QUEUE, claim.token, lease_seconds=1):
        while time.monotonic() < until:
            others.append(EVENT_QUEUE.claim(1, lease_seconds=1))
            time.sleep(0.1)
    assert set(others) == {None}
    # The heart stops: exactly one other takes it, after the lease.
    taken: list[object] = []
    wait_until(lambda: taken.append(EVENT_QUEUE.claim(1, lease_seconds=1)) or any(taken))
    assert EVENT_QUEUE.complete([claim.rows[0].id], token=claim.token) == 0


def test_a_row_that_kills_its_process_ends_after_its_attempts() -> None:
    """django-q2 #327: such a task came back for ever. With real processes: tests/chaos."""
    publish("X", "t", "1", max_attempts=3, outside_transaction=True)
    for _death in range(3):
        assert EVENT_QUEUE.claim(1, lease_seconds=60) is not None
        OutboxEvent.objects.update(locked_at="2026-01-01T00:00:00Z")
    assert EVENT_QUEUE.claim(1, lease_seconds=60) is None
    assert OutboxDeadLetter.objects.get().last_error == "worker lost"
