"""The thirteen faults of the seed's queue, each by its number, and the reports behind them."""

import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bson import ObjectId
from django.contrib.auth.models import User
from pymongo import MongoClient, monitoring
from pymongo.database import Database

from apps.common.health import Unready
from apps.delivery import mongodb
from apps.delivery import process_jobs as package
from apps.delivery.errors import InvalidSelector, MongodbUnreachable
from apps.delivery.process_jobs import (
    JOBS,
    LOCKS,
    MAX_ATTEMPTS,
    ProcessJobQueue,
    current_run,
    dedupe_key,
    retry_delay_ms,
)
from apps.delivery.process_jobs.inspection import JobRows
from apps.delivery.process_jobs.runners import forget, process_runner
from apps.delivery.process_jobs.store import JobStore
from apps.delivery.readiness import check_process_jobs
from apps.delivery.services import process_jobs as services

from .job_steps import ANA, RUI, expire, failing, killer, make_due, nothing

pytestmark = pytest.mark.mongo
PERMISSION = "delivery.change_usagetotal"


def test_fault_01_and_report_19_a_run_longer_than_its_lease_runs_once(
    database: Database[Any],
) -> None:
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


def test_fault_02_late_writes_of_a_worker_that_lost_its_lease_change_nothing(
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


def test_fault_03_a_job_that_kills_its_worker_ends(database: Database[Any]) -> None:
    queue = ProcessJobQueue(database)
    queue.enqueue("Order", {"id": 1})
    for _ in range(MAX_ATTEMPTS):
        with pytest.raises(SystemExit):
            queue.process_one(killer)
        expire(database)
    assert not queue.process_one(nothing)
    dead = database[JOBS].find_one({})
    assert (dead["status"], dead["lastError"]) == ("failed", "worker lost")


def test_fault_04_a_live_job_is_not_taken_though_its_own_lease_looks_expired(
    database: Database[Any],
) -> None:
    first, second, calls = ProcessJobQueue(database), ProcessJobQueue(database), []

    def run(*call: Any) -> None:
        past = {"$subtract": ["$$NOW", 1]}
        database[JOBS].update_many({}, [{"$set": {"leaseExpiresAt": past}}])
        assert not second.process_one(lambda *inner: calls.append(inner))

    first.enqueue("Order", {"id": 1})
    assert first.process_one(run)
    assert database[JOBS].count_documents({}) == 0
    assert calls == []


def test_fault_05_two_users_never_run_one_target_at_once(database: Database[Any]) -> None:
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


@pytest.mark.parametrize("value", [re.compile("a"), {1, 2}, b"a", object()])
def test_fault_06_what_a_key_would_merge_is_refused(database: Database[Any], value: Any) -> None:
    with pytest.raises(InvalidSelector):
        ProcessJobQueue(database).enqueue("Order", {"id": value})


def test_fault_06_an_id_and_its_hex_share_a_key_but_not_a_run(database: Database[Any]) -> None:
    queue, seen, number = ProcessJobQueue(database), [], ObjectId()
    for value in (number, str(number), number):
        queue.enqueue("Order", {"id": value})
    queue.drain(lambda _model, selectors, _context: seen.append(selectors["id"]))
    assert sorted(map(type, seen), key=str) == [ObjectId, str]
    assert database[JOBS].count_documents({}) == 0


def test_fault_07_the_attempts_ride_out_half_an_hour(database: Database[Any]) -> None:
    class Shortest:
        def uniform(self, low: float, _high: float) -> float:
            return low

    waits = [retry_delay_ms(n, rng=Shortest()) for n in range(1, MAX_ATTEMPTS)]  # type: ignore[arg-type]
    assert sum(waits) >= 30 * 60 * 1000
    queue = ProcessJobQueue(database)
    for number in range(10):
        queue.enqueue("Order", {"id": number})
    queue.drain(failing)
    assert len({job["nextRunAt"] for job in database[JOBS].find({})}) > 5


def test_fault_08_only_failed_jobs_expire_and_are_shown(database: Database[Any]) -> None:
    ProcessJobQueue(database).ensure_ready()
    expiring = [i for i in database[JOBS].list_indexes() if "expireAfterSeconds" in i]
    assert [dict(index["key"]) for index in expiring] == [{"failedAt": 1}]
    assert expiring[0]["partialFilterExpression"] == {"status": "failed"}
    database[JOBS].insert_one({"model": "Order", "status": "failed", "lastError": "token=abc"})
    assert JobRows(database, state="failed")[0:10][0].last_error == "token=…"


def test_fault_09_and_report_20_a_wrong_clock_takes_nothing_over(
    database: Database[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    queue, other, calls, right = ProcessJobQueue(database), ProcessJobQueue(database), [], time.time

    def run(*call: Any) -> None:
        monkeypatch.setattr(time, "time", lambda: right() + 3600)
        assert not other.process_one(lambda *inner: calls.append(inner))
        monkeypatch.setattr(time, "time", right)

    queue.enqueue("Order", {"id": 1})
    assert queue.process_one(run)
    assert calls == []


def test_fault_09_no_module_of_the_queue_reads_a_wall_clock() -> None:
    folder = Path(next(iter(package.__path__)))
    sources = [path.read_text() for path in folder.glob("*.py")]
    assert not [source for source in sources if re.search(r"time\.time\(|\.now\(|utcnow", source)]


def test_fault_10_stop_finishes_the_run_under_way_and_hands_the_rest_back(
    database: Database[Any],
) -> None:
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


@pytest.fixture
def unreachable(settings: Any) -> Iterator[None]:
    """A MongoDB that is configured and does not answer."""
    settings.MONGODB_URI = "mongodb://127.0.0.1:9/pombo?serverSelectionTimeoutMS=100"
    yield
    mongodb.forget_clients()
    services.forget_queues()


@pytest.mark.django_db(transaction=True)
def test_fault_11_a_job_is_never_kept_in_memory_because_the_server_is_away(
    unreachable: None,
) -> None:
    with pytest.raises(MongodbUnreachable):
        services.enqueue("UsageTotal", {"id": 1})
    with pytest.raises(Unready):
        check_process_jobs()


def test_fault_11_a_queue_in_memory_says_so(settings: Any, caplog: Any) -> None:
    settings.MONGODB_URI = ""
    services.forget_queues()
    services.shared_queue()
    assert check_process_jobs()["survives_restart"] is False
    assert [record.message for record in caplog.records] == ["process_jobs.in_memory"]


@pytest.fixture
def runs() -> Iterator[list[Any]]:
    """What a runner of the model `Report` was called with."""
    calls: list[Any] = []
    process_runner("Report", permission=PERMISSION)(lambda *call: calls.append(call))
    yield calls
    forget("Report")


@pytest.mark.django_db(transaction=True)
def test_fault_12_a_right_taken_away_after_enqueueing_is_not_used(
    mongo: Database[Any], owner: User, runs: list[Any]
) -> None:
    services.enqueue("Report", {"id": 1}, user=owner)
    services.enqueue("Report", {"id": 2}, user=owner)
    queue = services.new_queue()
    assert queue.process_one(services.run)
    owner.is_superuser = False
    owner.save()
    queue.drain()
    assert runs == [({"id": 1}, {"userId": "owner", "permissions": [PERMISSION]})]
    refused = mongo[JOBS].find_one({})
    assert (refused["status"], refused["attempts"]) == ("failed", 1)


def test_fault_12_errors_are_written_down_without_passwords(database: Database[Any]) -> None:
    queue = ProcessJobQueue(database)
    queue.enqueue("Order", {"id": 1})
    assert queue.process_one(failing)
    assert database[JOBS].find_one({})["lastError"] == "cannot reach mongodb://…@db/orders"


class Counter(monitoring.CommandListener):
    """Counts what is sent to the server."""

    def __init__(self) -> None:
        self.count = 0

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        self.count += 1

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None: ...

    def failed(self, event: monitoring.CommandFailedEvent) -> None: ...


def test_fault_13_jobs_behind_a_busy_lock_cost_one_batch_together(database: Database[Any]) -> None:
    host, port = database.client.address or ("", 0)
    counter = Counter()
    holder = ProcessJobQueue(database)
    with MongoClient(host, port, directConnection=True, event_listeners=[counter]) as client:
        waiting = ProcessJobQueue(client[database.name])
        waiting.ensure_ready()

        def run(*call: Any) -> None:
            for number in range(100):
                holder.enqueue("Order", {"id": 1}, {"userId": number})
            before = counter.count
            waiting.drain(nothing)
            assert counter.count - before <= 20

        holder.enqueue("Order", {"id": 1})
        assert holder.process_one(run)
    assert database[JOBS].count_documents({"status": "pending"}) == 100
    assert {"status": 1, "leaseExpiresAt": 1} in [
        dict(i["key"]) for i in database[JOBS].list_indexes()
    ]


def test_report_21_an_equal_job_that_arrives_during_a_run_runs_once_more(
    database: Database[Any],
) -> None:
    queue, calls = ProcessJobQueue(database), []

    def run(*call: Any) -> None:
        calls.append(call)
        if len(calls) == 1:
            queue.enqueue("Order", {"id": 1})
            queue.enqueue("Order", {"id": 1})

    queue.enqueue("Order", {"id": 1})
    queue.drain(run)
    assert len(calls) == 2


def test_report_22_one_of_two_takes_a_lock_at_once(database: Database[Any]) -> None:
    store, winners = JobStore(database, lease_seconds=60), []
    barrier = threading.Barrier(8)

    def take(number: int) -> None:
        barrier.wait()
        if store.lock(f"worker-{number}", [dedupe_key("Order", {"id": 1})]):
            winners.append(number)

    threads = [threading.Thread(target=take, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(winners) == 1
