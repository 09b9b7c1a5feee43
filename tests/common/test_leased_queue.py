"""The leased queue under many claimers: each row once, nobody waits, late ones are harmless."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from django.db import connection, transaction

from apps.common.dialects import execute, fetch
from apps.common.leased_queue import WORKER_LOST, kept_alive
from apps.outbox.events import NewEvent
from apps.outbox.models import OutboxDeadLetter, OutboxEvent
from apps.outbox.queue import EVENT_QUEUE
from apps.outbox.services import publish_many
from tests.waiting import wait_until

LEASE = 60
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)

pytestmark = pytest.mark.django_db(transaction=True)


def fill(count: int, *, priority: int = 50, max_attempts: int = 10) -> None:
    events = [
        NewEvent("X", "t", str(n), {}, priority=priority, max_attempts=max_attempts)
        for n in range(count)
    ]
    publish_many(events, outside_transaction=True)


def in_threads(count: int, work: Callable[[int], list[int]]) -> list[list[int]]:
    """Run the work in so many threads that start together, each on its own connection."""
    barrier = threading.Barrier(count)

    def run(number: int) -> list[int]:
        barrier.wait()
        try:
            return work(number)
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def claimed_until_empty(_number: int) -> list[int]:
    mine: list[int] = []
    while claim := EVENT_QUEUE.claim(40, lease_seconds=LEASE):
        ids = [row.id for row in claim.rows]
        mine += ids
        assert EVENT_QUEUE.complete(ids, token=claim.token) == len(ids)
    return mine


def lose_leases() -> None:
    OutboxEvent.objects.filter(status="processing").update(locked_at=LONG_AGO)


def test_q1_eight_claimers_take_five_thousand_rows_each_exactly_once() -> None:
    fill(5000)
    takes = in_threads(8, claimed_until_empty)
    counts = Counter(pk for take in takes for pk in take)
    assert len(counts) == 5000
    assert set(counts.values()) == {1}
    assert not OutboxEvent.objects.exclude(status="completed").exists()


def test_a_second_claimer_gets_work_while_the_first_holds_a_batch() -> None:
    fill(20)
    first = EVENT_QUEUE.claim(10, lease_seconds=LEASE)
    second = EVENT_QUEUE.claim(10, lease_seconds=LEASE)
    assert first is not None
    assert second is not None
    assert not {row.id for row in first.rows} & {row.id for row in second.rows}


@pytest.mark.mysql
def test_rows_locked_by_an_open_transaction_are_skipped_not_waited_for() -> None:
    fill(20)
    with transaction.atomic():
        fetch("SELECT id FROM domain_event_outbox ORDER BY id LIMIT 10 FOR UPDATE", [])
        (taken,) = in_threads(1, lambda _n: [r.id for r in _claim(20)])
    assert len(taken) == 10


def _claim(limit: int) -> tuple[object, ...]:
    claim = EVENT_QUEUE.claim(limit, lease_seconds=LEASE)
    return claim.rows if claim else ()


def test_q2_a_worker_that_lost_its_lease_changes_nothing() -> None:
    fill(1)
    late = EVENT_QUEUE.claim(1, lease_seconds=LEASE)
    lose_leases()
    current = EVENT_QUEUE.claim(1, lease_seconds=LEASE)
    assert late is not None
    assert current is not None
    ids = [late.rows[0].id]
    assert EVENT_QUEUE.complete(ids, token=late.token) == 0
    assert EVENT_QUEUE.retry(ids, token=late.token, error="late", delay_seconds=1) == 0
    assert EVENT_QUEUE.bury(late.rows, token=late.token, error="late") == 0
    assert EVENT_QUEUE.heartbeat(late.token) == 0
    assert EVENT_QUEUE.complete(ids, token=current.token) == 1


def test_rows_of_a_lost_lease_are_claimed_alone() -> None:
    fill(5)
    EVENT_QUEUE.claim(5, lease_seconds=LEASE)
    lose_leases()
    claim = EVENT_QUEUE.claim(5, lease_seconds=LEASE)
    assert claim is not None
    assert [row.attempts for row in claim.rows] == [2]


def test_a_lease_from_before_the_clock_was_set_back_is_lost() -> None:
    fill(1)
    EVENT_QUEUE.claim(1, lease_seconds=LEASE)
    OutboxEvent.objects.update(locked_at=datetime(2037, 1, 1, tzinfo=UTC))
    claim = EVENT_QUEUE.claim(1, lease_seconds=LEASE)
    assert claim is not None
    assert claim.is_reclaimed


def test_a_row_on_its_last_attempt_is_claimed_alone() -> None:
    fill(1)
    fill(1, max_attempts=1)
    fill(3)
    sizes = []
    while claim := EVENT_QUEUE.claim(5, lease_seconds=LEASE):
        sizes.append(len(claim.rows))
    assert sizes == [1, 1, 3]


def test_a_lost_lease_with_attempts_used_up_is_a_dead_letter() -> None:
    fill(1, max_attempts=1)
    EVENT_QUEUE.claim(1, lease_seconds=LEASE)
    lose_leases()
    assert EVENT_QUEUE.claim(1, lease_seconds=LEASE) is None
    letter = OutboxDeadLetter.objects.get()
    assert letter.last_error == WORKER_LOST
    assert OutboxEvent.objects.get().status == "failed"


def test_released_rows_are_not_charged_even_at_zero() -> None:
    fill(1)
    claim = EVENT_QUEUE.claim(1, lease_seconds=LEASE)
    assert claim is not None
    execute("UPDATE domain_event_outbox SET attempts = 0", [])
    assert EVENT_QUEUE.release([claim.rows[0].id], token=claim.token) == 1
    assert OutboxEvent.objects.get().attempts == 0


def test_q4_attempts_at_the_columns_limit_do_not_block_the_queue() -> None:
    fill(2)
    execute("UPDATE domain_event_outbox SET attempts = 255", [])
    claims = [EVENT_QUEUE.claim(2, lease_seconds=LEASE) for _row in range(2)]
    assert [len(claim.rows) for claim in claims if claim] == [1, 1]


def test_a_million_rows_for_tomorrow_do_not_hide_what_is_due() -> None:
    tomorrow = datetime(2037, 1, 1, tzinfo=UTC)
    later = [NewEvent("X", "t", "later", {}, priority=100, available_at=tomorrow)] * 500
    publish_many(later, outside_transaction=True)
    fill(1, priority=1)
    claim = EVENT_QUEUE.claim(10, lease_seconds=LEASE)
    assert claim is not None
    assert len(claim.rows) == 1


def test_q3_the_heartbeat_keeps_a_lease_while_the_work_takes_longer() -> None:
    fill(1)
    claim = EVENT_QUEUE.claim(1, lease_seconds=3)
    assert claim is not None
    lose_leases()
    with kept_alive(EVENT_QUEUE, claim.token, lease_seconds=3):
        wait_until(lambda: OutboxEvent.objects.get().locked_at != LONG_AGO, seconds=10)
    assert EVENT_QUEUE.complete([claim.rows[0].id], token=claim.token) == 1


def test_e8_pruning_deletes_old_completed_rows_and_never_dead_ones() -> None:
    fill(3)
    claim = EVENT_QUEUE.claim(2, lease_seconds=LEASE)
    assert claim is not None
    EVENT_QUEUE.complete([claim.rows[0].id], token=claim.token)
    EVENT_QUEUE.bury([claim.rows[1]], token=claim.token, error="x")
    OutboxEvent.objects.exclude(processed_at=None).update(processed_at=LONG_AGO)
    assert EVENT_QUEUE.prune(older_than_seconds=60, limit=100) == 1
    assert sorted(OutboxEvent.objects.values_list("status", flat=True)) == ["failed", "pending"]


@pytest.fixture
def explained() -> Iterator[Callable[[str, list[object]], str]]:
    """What MariaDB says of a query's plan."""

    def explain(sql: str, parameters: list[object]) -> str:
        return " ".join(str(row) for row in fetch(f"EXPLAIN {sql}", parameters))

    return explain


@pytest.mark.mysql
def test_a_claim_reads_one_index_in_order(
    explained: Callable[[str, list[object]], str],
) -> None:
    fill(2000)
    plan = explained(
        "SELECT id FROM domain_event_outbox WHERE status = 'pending' AND priority = %s"
        " AND available_at <= CURRENT_TIMESTAMP ORDER BY available_at, id LIMIT 200"
        " FOR UPDATE SKIP LOCKED",
        [50],
    )
    assert "idx_domain_event_outbox_claim" in plan
    assert "filesort" not in plan
