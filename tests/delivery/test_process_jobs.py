"""The process-job queue on a real mongod: what it promises beyond having no fault."""

import time
from http import HTTPStatus
from typing import Any

import pytest
from pymongo import MongoClient
from pymongo.database import Database

from apps.common.api import status_of
from apps.delivery.errors import LeaseLost, ProcessTransactionRequired
from apps.delivery.process_jobs import (
    JOBS,
    LOCKS,
    MAX_ATTEMPTS,
    ProcessJobQueue,
    current_run,
    dedupe_key,
)
from tests.waiting import wait_until

from .job_steps import ANA, expire, failing, make_due, nothing

pytestmark = pytest.mark.mongo


def test_a_job_runs_once_and_leaves_nothing(database: Database[Any]) -> None:
    queue, calls = ProcessJobQueue(database), []
    queue.enqueue("Order", {"id": "$literal"}, ANA)
    assert queue.process_one(lambda *call: calls.append(call))
    assert calls == [("Order", {"id": "$literal"}, ANA)]
    assert not queue.process_one(nothing)
    assert database[JOBS].count_documents({}) == database[LOCKS].count_documents({}) == 0


def test_a_pending_job_looks_like_that_of_a_node_app(database: Database[Any]) -> None:
    ProcessJobQueue(database).enqueue("Order", {"id": 1})
    job = database[JOBS].find_one({}, {"_id": 0, "createdAt": 0, "nextRunAt": 0})
    assert job == {
        "model": "Order",
        "selectors": {"id": 1},
        "accessContext": None,
        "dedupeKey": dedupe_key("Order", {"id": 1}),
        "status": "pending",
        "attempts": 0,
    }


def test_one_run_covers_equal_jobs(database: Database[Any]) -> None:
    queue, calls = ProcessJobQueue(database), []
    for _ in range(5):
        queue.enqueue("Order", {"id": 1})
    queue.drain(lambda *call: calls.append(call))
    assert len(calls) == 1


def test_a_run_is_told_that_its_lease_is_lost(database: Database[Any]) -> None:
    queue = ProcessJobQueue(database, lease_seconds=0.3)

    def robbed(*call: Any) -> None:
        database[LOCKS].update_many({}, {"$set": {"owner": "another"}})
        wait_until(lambda: current_run().lease.is_lost)
        with pytest.raises(LeaseLost):
            current_run().ensure_held()

    queue.enqueue("Order", {"id": 1})
    assert queue.process_one(robbed)


def test_a_failure_waits_and_is_written_down_without_passwords(database: Database[Any]) -> None:
    queue = ProcessJobQueue(database)
    queue.enqueue("Order", {"id": 1})
    assert queue.process_one(failing)
    assert not queue.process_one(failing)
    job = database[JOBS].find_one({})
    assert job["status"] == "pending"
    assert job["lastError"] == "cannot reach mongodb://…@db/orders"
    assert "leaseOwner" not in job


def test_the_last_failed_attempt_gives_up(database: Database[Any]) -> None:
    queue = ProcessJobQueue(database)
    queue.enqueue("Order", {"id": 1})
    for _ in range(MAX_ATTEMPTS):
        assert queue.process_one(failing)
        make_due(database)
    assert not queue.process_one(failing)
    dead = database[JOBS].find_one({})
    assert (dead["status"], dead["attempts"]) == ("failed", MAX_ATTEMPTS)
    assert dead["failedAt"]


def test_a_worker_claims_only_models_that_it_can_run(database: Database[Any]) -> None:
    queue = ProcessJobQueue(database, models={"Invoice"})
    queue.enqueue("Order", {"id": 1})
    assert not queue.process_one(nothing)


@pytest.mark.parametrize(("is_committed", "count"), [(True, 1), (False, 0)])
def test_a_job_lives_and_dies_with_the_transaction(
    mongo_client: MongoClient[Any], database: Database[Any], *, is_committed: bool, count: int
) -> None:
    queue = ProcessJobQueue(database)
    with mongo_client.start_session() as session:
        session.start_transaction()
        queue.enqueue("Order", {"id": 1}, session=session)
        assert not queue.process_one(nothing)
        session.commit_transaction() if is_committed else session.abort_transaction()
    assert database[JOBS].count_documents({}) == count


def test_a_session_needs_a_transaction(
    mongo_client: MongoClient[Any], database: Database[Any]
) -> None:
    queue = ProcessJobQueue(database)
    with mongo_client.start_session() as session, pytest.raises(ProcessTransactionRequired) as no:
        queue.enqueue("Order", {}, session=session)
    assert no.value.code == "OON_PROCESS_TRANSACTION_REQUIRED"
    assert status_of(no.value) == HTTPStatus.CONFLICT


def test_a_killer_takes_no_neighbours_along(database: Database[Any]) -> None:
    queue, done = ProcessJobQueue(database), []
    for number in range(10):
        queue.enqueue("Order", {"id": number})

    def run(model: str, selectors: Any, context: Any) -> None:
        if selectors["id"] == 4:
            raise SystemExit(137)
        done.append(selectors["id"])

    for _ in range(MAX_ATTEMPTS + 1):
        try:
            queue.drain(run)
        except SystemExit:
            expire(database)
    queue.drain(run)
    assert set(done) == set(range(10)) - {4}
    assert [job["selectors"]["id"] for job in database[JOBS].find({})] == [4]


def test_slow_jobs_of_one_batch_are_shared_with_an_idle_worker(database: Database[Any]) -> None:
    first, second, done = ProcessJobQueue(database), ProcessJobQueue(database), []
    for number in range(10):
        first.enqueue("Order", {"id": number})
    first.start(lambda *_: (time.sleep(0.3), done.append(1)))
    wait_until(lambda: database[JOBS].count_documents({"status": "processing"}) > 5)
    second.start(lambda *_: (time.sleep(0.3), done.append(2)))
    try:
        wait_until(lambda: database[JOBS].count_documents({}) == 0)
    finally:
        first.stop()
        second.stop()
    assert len(done) == 10
    assert 2 in done


def test_many_workers_run_each_target_alone(database: Database[Any]) -> None:
    queues = [ProcessJobQueue(database, batch_size=7) for _ in range(4)]
    busy, overlaps, done = set(), [], set()
    for number in range(300):
        queues[0].enqueue("Order", {"id": number % 20}, {"userId": number})

    def run(model: str, selectors: Any, context: Any) -> None:
        overlaps.extend(busy & {selectors["id"]})
        busy.add(selectors["id"])
        time.sleep(0.001)
        busy.discard(selectors["id"])
        done.add(context["userId"])

    for queue in queues:
        queue.start(run)
    try:
        wait_until(lambda: database[JOBS].count_documents({}) == 0, seconds=60)
    finally:
        for queue in queues:
            queue.stop()
    assert overlaps == []
    assert done == set(range(300))
