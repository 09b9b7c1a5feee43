"""The process-job queue on a real mongod: the faults of a plain lease queue, one by one."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pymongo import MongoClient
from pymongo.database import Database

from apps.delivery.errors import LeaseLost, ProcessTransactionRequired
from apps.delivery.mongod import mongod
from apps.delivery.process_jobs import (
    JOBS,
    LOCKS,
    MAX_ATTEMPTS,
    ProcessJobQueue,
    current_run,
    dedupe_key,
)

pytestmark = pytest.mark.mongo
ANA, RUI = {"userId": "ana"}, {"userId": "rui"}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MongoClient[Any]]:
    with mongod(tmp_path_factory.mktemp("jobs")) as address, MongoClient(address) as client:
        yield client


@pytest.fixture
def database(client: MongoClient[Any]) -> Database[Any]:
    database = client["jobs_test"]
    for name in database.list_collection_names():
        database[name].delete_many({})
    return database


def nothing(model: str, selectors: Any, context: Any) -> None:
    """A run that succeeds."""


def failing(model: str, selectors: Any, context: Any) -> None:
    raise ValueError("cannot reach mongodb://app:hunter2@db/orders")


def killer(model: str, selectors: Any, context: Any) -> None:
    raise SystemExit(137)


def until(condition: Callable[[], bool], *, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def make_due(database: Database[Any]) -> None:
    database[JOBS].update_many({}, [{"$set": {"nextRunAt": "$$NOW"}}])


def expire(database: Database[Any]) -> None:
    """As if the worker had vanished a lease ago."""
    past = {"$subtract": ["$$NOW", 1]}
    database[JOBS].update_many({"status": "processing"}, [{"$set": {"leaseExpiresAt": past}}])
    database[LOCKS].update_many({}, [{"$set": {"expiresAt": past}}])


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


def test_an_equal_job_that_arrives_during_a_run_runs_once_more(database: Database[Any]) -> None:
    queue, calls = ProcessJobQueue(database), []

    def run(*call: Any) -> None:
        calls.append(call)
        if len(calls) == 1:
            queue.enqueue("Order", {"id": 1})
            queue.enqueue("Order", {"id": 1})

    queue.enqueue("Order", {"id": 1})
    queue.drain(run)
    assert len(calls) == 2


def test_two_users_never_run_one_target_at_once(database: Database[Any]) -> None:
    first, second, calls = ProcessJobQueue(database), ProcessJobQueue(database), []

    def run(*call: Any) -> None:
        first.enqueue("Order", {"id": 1}, RUI)
        assert second.process_one(lambda *inner: calls.append(inner))

    first.enqueue("Order", {"id": 1}, ANA)
    first.process_one(run)
    assert calls == []
    assert database[JOBS].find_one({})["attempts"] == 0
    make_due(database)
    second.drain(lambda *inner: calls.append(inner))
    assert len(calls) == 1


def test_a_run_longer_than_its_lease_runs_once(database: Database[Any]) -> None:
    first = ProcessJobQueue(database, lease_seconds=0.6)
    second, calls = ProcessJobQueue(database, lease_seconds=0.6), []
    over = time.monotonic() + 2

    def long_run(*call: Any) -> None:
        while time.monotonic() < over:
            assert not second.process_one(lambda *call: calls.append(call))
            current_run().ensure_held()

    first.enqueue("Order", {"id": 1})
    assert first.process_one(long_run)
    assert calls == []
    assert database[JOBS].count_documents({}) == 0


def test_late_writes_of_a_worker_that_lost_its_lease_change_nothing(
    database: Database[Any],
) -> None:
    slow, quick, fences = ProcessJobQueue(database), ProcessJobQueue(database), []

    def stalled(*call: Any) -> None:
        fences.append(current_run().fence)
        expire(database)
        quick.process_one(lambda *_: fences.append(current_run().fence))
        quick.enqueue("Order", {"id": 1})

    slow.enqueue("Order", {"id": 1})
    slow.process_one(stalled)
    assert fences[0] < fences[1]
    assert database[JOBS].count_documents({"status": "pending"}) == 1


def test_a_run_is_told_that_its_lease_is_lost(database: Database[Any]) -> None:
    queue = ProcessJobQueue(database, lease_seconds=0.3)

    def robbed(*call: Any) -> None:
        database[LOCKS].update_many({}, {"$set": {"owner": "another"}})
        until(lambda: current_run().lease.is_lost)
        with pytest.raises(LeaseLost):
            current_run().ensure_held()

    queue.enqueue("Order", {"id": 1})
    assert queue.process_one(robbed)


def test_a_job_that_kills_its_worker_ends(database: Database[Any]) -> None:
    queue = ProcessJobQueue(database)
    queue.enqueue("Order", {"id": 1})
    for _ in range(MAX_ATTEMPTS):
        with pytest.raises(SystemExit):
            queue.process_one(killer)
        expire(database)
    assert not queue.process_one(nothing)
    dead = database[JOBS].find_one({})
    assert (dead["status"], dead["lastError"]) == ("failed", "worker lost")


def test_a_failure_waits_and_is_written_down_without_passwords(database: Database[Any]) -> None:
    queue = ProcessJobQueue(database)
    queue.enqueue("Order", {"id": 1})
    assert queue.process_one(failing)
    assert not queue.process_one(failing)
    job = database[JOBS].find_one({})
    assert job["status"] == "pending"
    assert job["lastError"] == "cannot reach mongodb://***db/orders"
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


def test_only_failed_jobs_expire(database: Database[Any]) -> None:
    ProcessJobQueue(database).ensure_ready()
    expiring = [i for i in database[JOBS].list_indexes() if "expireAfterSeconds" in i]
    assert [dict(index["key"]) for index in expiring] == [{"failedAt": 1}]
    assert expiring[0]["partialFilterExpression"] == {"status": "failed"}


def test_a_worker_claims_only_models_that_it_can_run(database: Database[Any]) -> None:
    queue = ProcessJobQueue(database, models={"Invoice"})
    queue.enqueue("Order", {"id": 1})
    assert not queue.process_one(nothing)


@pytest.mark.parametrize(("is_committed", "count"), [(True, 1), (False, 0)])
def test_a_job_lives_and_dies_with_the_transaction(
    client: MongoClient[Any], database: Database[Any], *, is_committed: bool, count: int
) -> None:
    queue = ProcessJobQueue(database)
    with client.start_session() as session:
        session.start_transaction()
        queue.enqueue("Order", {"id": 1}, session=session)
        assert not queue.process_one(nothing)
        session.commit_transaction() if is_committed else session.abort_transaction()
    assert database[JOBS].count_documents({}) == count


def test_a_session_needs_a_transaction(client: MongoClient[Any], database: Database[Any]) -> None:
    with client.start_session() as session, pytest.raises(ProcessTransactionRequired) as refused:
        ProcessJobQueue(database).enqueue("Order", {}, session=session)
    assert refused.value.code == "OON_PROCESS_TRANSACTION_REQUIRED"


def test_stop_finishes_the_run_under_way_and_hands_the_rest_back(database: Database[Any]) -> None:
    queue, started, go_on = ProcessJobQueue(database), threading.Event(), threading.Event()
    for number in range(20):
        queue.enqueue("Order", {"id": number})

    def run(*call: Any) -> None:
        started.set()
        go_on.wait(20)

    queue.start(run)
    assert started.wait(20)
    stopper = threading.Thread(target=queue.stop)
    stopper.start()
    go_on.set()
    stopper.join(20)
    waiting = list(database[JOBS].find({}))
    assert waiting
    assert all(j["status"] == "pending" and j["attempts"] == 0 for j in waiting)
    assert database[LOCKS].count_documents({}) == 0


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
        until(lambda: database[JOBS].count_documents({}) == 0, seconds=60)
    finally:
        for queue in queues:
            queue.stop()
    assert overlaps == []
    assert done == set(range(300))
