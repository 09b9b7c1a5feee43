"""A node app and Pombo on one database: the same indexes, keys and states, and whose job it is."""

import threading
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from pymongo.database import Database

from apps.delivery.errors import ProcessJobIndexConflict
from apps.delivery.process_jobs import JOBS, LOCKS, ProcessJobQueue
from tests.waiting import wait_until

from .job_steps import nothing
from .node_worker import NodeWorker

pytestmark = pytest.mark.mongo


@pytest.fixture
def node(database: Database[Any]) -> NodeWorker:
    return NodeWorker(database)


@pytest.fixture
def pombo(database: Database[Any]) -> ProcessJobQueue:
    return ProcessJobQueue(database, models={"Order"}, batch_size=5)


def test_either_makes_the_indexes_first(mongo_client: Any) -> None:
    for name, makers in {"node_first": (0, 1), "pombo_first": (1, 0)}.items():
        mongo_client.drop_database(name)
        both = [NodeWorker(mongo_client[name]).make_indexes]
        both.append(ProcessJobQueue(mongo_client[name]).ensure_ready)
        for number in makers:
            both[number]()
        assert len(list(mongo_client[name][JOBS].list_indexes())) == 7
        mongo_client.drop_database(name)


def test_another_index_on_the_same_field_is_found_and_named(mongo_client: Any) -> None:
    mongo_client.drop_database("conflict")
    mongo_client["conflict"][JOBS].create_index([("failedAt", 1)], expireAfterSeconds=60)
    with pytest.raises(ProcessJobIndexConflict) as conflict:
        ProcessJobQueue(mongo_client["conflict"]).enqueue("Order", {})
    assert conflict.value.details["keys"] == "failedAt"
    mongo_client.drop_database("conflict")


def test_each_runs_what_the_other_enqueued(
    database: Database[Any], node: NodeWorker, pombo: ProcessJobQueue
) -> None:
    seen: list[Any] = []
    node.enqueue("Order", {"id": 1}, {"userId": "ana"})
    assert pombo.process_one(lambda *call: seen.append(call))
    pombo.enqueue("Order", {"id": 2})
    assert node.process_one(lambda *call: seen.append(call))
    assert seen == [("Order", {"id": 1}, {"userId": "ana"}), ("Order", {"id": 2}, None)]
    assert database[JOBS].count_documents({}) == database[LOCKS].count_documents({}) == 0


def test_models_without_a_runner_here_are_left_to_the_node_app(
    node: NodeWorker, pombo: ProcessJobQueue
) -> None:
    node.enqueue("Invoice", {"id": 1})
    assert not pombo.process_one(nothing)
    assert node.process_one(nothing)


def test_a_job_that_a_node_worker_left_behind_is_taken_up(
    database: Database[Any], pombo: ProcessJobQueue
) -> None:
    dead, seen = NodeWorker(database, lease=timedelta(seconds=-1)), []
    dead.enqueue("Order", {"id": 1})
    assert dead._take()
    assert pombo.process_one(lambda *call: seen.append(call))
    assert len(seen) == 1


def test_one_job_never_runs_in_both_at_once(node: NodeWorker, pombo: ProcessJobQueue) -> None:
    seen: list[Any] = []

    def meanwhile(*_call: Any) -> None:
        pombo.enqueue("Order", {"id": 1})
        assert node.process_one(lambda *call: seen.append(call))
        assert seen == []

    pombo.enqueue("Order", {"id": 1})
    assert pombo.process_one(meanwhile)


def test_both_together_lose_nothing_and_overlap_on_no_job(
    database: Database[Any], pombo: ProcessJobQueue
) -> None:
    busy: Counter[int] = Counter()
    overlaps, done, guard = [], set(), threading.Lock()
    for number in range(300):
        pombo.enqueue("Order", {"id": number % 100})

    def run(_model: str, selectors: Any, _context: Any) -> None:
        with guard:
            busy[selectors["id"]] += 1
            overlaps.extend([selectors] if busy[selectors["id"]] > 1 else [])
        done.add(selectors["id"])
        with guard:
            busy[selectors["id"]] -= 1

    def work_as_node() -> None:
        worker = NodeWorker(database)
        while database[JOBS].count_documents({}):
            worker.process_one(run)

    threads = [threading.Thread(target=work_as_node) for _ in range(2)]
    for thread in threads:
        thread.start()
    pombo.start(run)
    try:
        wait_until(lambda: database[JOBS].count_documents({}) == 0)
    finally:
        pombo.stop()
        for thread in threads:
            thread.join()
    assert done == set(range(100))
    assert overlaps == []
