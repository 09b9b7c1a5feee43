"""Asking for recalculations inside and outside of transactions, and the ways in which they run."""

import json
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from bson import ObjectId
from django.contrib.auth.models import User
from django.db import transaction
from pymongo import MongoClient
from pymongo.database import Database
from standardwebhooks.webhooks import Webhook

from apps.delivery.errors import (
    AccessRevoked,
    NoProcessRunner,
    ProcessTransactionRequired,
)
from apps.delivery.models import RemoteRunner, UsageTotal
from apps.delivery.process_jobs import JOBS, dedupe_key
from apps.delivery.process_jobs import queue as queue_module
from apps.delivery.process_jobs.runners import forget, process_runner
from apps.delivery.process_jobs.workers import SignOfLife, worker_rows
from apps.delivery.services import process_job_residency, remote_runners
from apps.delivery.services import process_jobs as services
from apps.delivery.services.usage import ingest
from apps.outbox.models import OutboxEvent
from apps.outbox.services import drain
from tests.waiting import wait_until

from .job_steps import make_due
from .rows import make_app
from .usage_rows import NOW, PERIOD, make_metric, report, total

pytestmark = [pytest.mark.mongo, pytest.mark.django_db(transaction=True)]
PERMISSION = "delivery.change_usagetotal"


@pytest.fixture
def runs() -> Iterator[list[Any]]:
    """What the runner of the model `Report` was called with."""
    calls: list[Any] = []
    process_runner("Report", permission=PERMISSION)(lambda *call: calls.append(call))
    yield calls
    forget("Report")


@pytest.fixture
def in_memory(settings: Any) -> Iterator[None]:
    settings.MONGODB_URI = ""
    services.forget_queues()
    yield
    services.forget_queues()


def test_outside_a_transaction_a_job_is_queued_at_once(
    mongo: Database[Any], runs: list[Any]
) -> None:
    services.enqueue("Report", {"id": 1})
    assert mongo[JOBS].count_documents({"status": "pending"}) == 1


@pytest.mark.parametrize(("is_committed", "count"), [(True, 1), (False, 0)])
def test_inside_a_django_transaction_a_job_goes_through_the_outbox(
    mongo: Database[Any], runs: list[Any], *, is_committed: bool, count: int
) -> None:
    selectors = {"id": ObjectId(), "at": datetime(2026, 3, 1, tzinfo=UTC), "n": 1}
    with transaction.atomic():
        services.enqueue("Report", selectors)
        transaction.set_rollback(not is_committed)
    assert mongo[JOBS].count_documents({}) == 0
    drain(5)
    jobs = list(mongo[JOBS].find({}))
    assert [job["selectors"] for job in jobs] == [selectors] * count
    assert [job["dedupeKey"] for job in jobs] == [dedupe_key("Report", selectors)] * count


def test_an_outage_of_mongodb_delays_a_job_and_loses_nothing(
    mongo: Database[Any], runs: list[Any], settings: Any
) -> None:
    with transaction.atomic():
        services.enqueue("Report", {"id": 1})
    right = settings.MONGODB_URI
    settings.MONGODB_URI = "mongodb://127.0.0.1:9/?serverSelectionTimeoutMS=50"
    drain(1)
    assert OutboxEvent.objects.get().status == "pending"
    settings.MONGODB_URI = right
    OutboxEvent.objects.update(available_at=datetime.now(UTC) - timedelta(seconds=5))
    drain(1)
    assert mongo[JOBS].count_documents({}) == 1


def test_inside_the_callers_mongodb_transaction(
    mongo: Database[Any], mongo_client: MongoClient[Any], runs: list[Any]
) -> None:
    client = services.shared_queue()._store._jobs.database.client  # type: ignore[union-attr]
    with client.start_session() as session, session.start_transaction():
        services.enqueue("Report", {"id": 1}, session=session)
        assert mongo[JOBS].count_documents({}) == 0
    assert mongo[JOBS].count_documents({}) == 1


def test_nobody_enqueues_what_they_may_not_do(mongo: Database[Any], runs: list[Any]) -> None:
    with pytest.raises(AccessRevoked):
        services.enqueue("Report", {}, user=User.objects.create_user("ana"))
    with pytest.raises(NoProcessRunner):
        services.enqueue("Unknown", {}, user=User.objects.create_superuser("rui"))


def test_an_enqueue_wakes_a_sleeping_worker_at_once(
    mongo: Database[Any], runs: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue_module, "_POLL_SECONDS", 60.0)
    worker = services.new_queue()
    worker.start()
    try:
        wait_until(lambda: worker._arrivals.is_open)
        services.enqueue("Report", {"id": 1})  # through another queue object, as processes do
        wait_until(lambda: runs, seconds=10)
    finally:
        worker.ask_to_stop()
        services.enqueue("Report", {"id": 2})  # ends the sleep of a minute
        worker.stop()


def test_without_mongodb_jobs_run_in_memory_in_their_order(
    in_memory: None, runs: list[Any]
) -> None:
    for number in range(3):
        services.enqueue("Report", {"id": number})
    services.shared_queue().drain()
    assert [selectors["id"] for selectors, _context in runs] == [0, 1, 2]


def test_without_mongodb_there_is_no_transaction_to_join(
    in_memory: None, mongo_client: MongoClient[Any]
) -> None:
    with mongo_client.start_session() as session, pytest.raises(ProcessTransactionRequired):
        services.enqueue("Report", {}, session=session)


def test_a_failure_in_memory_is_logged_and_the_next_job_runs(
    in_memory: None, runs: list[Any], caplog: Any
) -> None:
    services.enqueue("Unknown", {})
    services.enqueue("Report", {"id": 1})
    services.shared_queue().drain()
    names = [record.message for record in caplog.records]
    assert "OON_PROCESS_ASYNC_RECALCULATION_FAILED" in names
    assert len(runs) == 1


def test_a_slot_is_held_by_one_worker(mongo: Database[Any]) -> None:
    with SignOfLife(mongo, "resident-1", lambda: {"Report"}) as first:
        with SignOfLife(mongo, "resident-1", lambda: {"Other"}) as second:
            assert (first.is_ours, second.is_ours) == (True, False)
        (row,) = worker_rows(mongo)
        assert (row.models, row.is_alive) == (["Report"], True)
    assert worker_rows(mongo) == []


def test_the_resident_worker_runs_what_is_due_and_hands_over(
    mongo: Database[Any], runs: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    successors: list[Any] = []
    monkeypatch.setattr(process_job_residency, "RESIDENT_SECONDS", 0.2)
    monkeypatch.setattr(process_job_residency, "async_task", lambda *task: successors.append(task))
    services.enqueue("Report", {"id": 1})
    process_job_residency.reside("1")
    assert len(runs) == 1
    assert successors == [("apps.delivery.tasks.work_process_jobs", "1")]
    with SignOfLife(mongo, "resident-1", set):
        process_job_residency.reside("1")
    assert len(successors) == 1


class AppServer(ThreadingHTTPServer):
    """An app that recalculates: keeps what it was asked and answers as told."""

    status = 200

    def __init__(self) -> None:
        self.calls: list[tuple[dict[str, str], bytes]] = []
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/recalculate"


class _Handler(BaseHTTPRequestHandler):
    server: AppServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.calls.append((dict(self.headers), body))
        if self.server.status == 0:
            time.sleep(1.5)
        self.send_response(self.server.status or 200)
        self.end_headers()

    def log_message(self, *_words: Any) -> None:
        """Nothing on the terminal."""


@pytest.fixture
def app_server() -> Iterator[AppServer]:
    server = AppServer()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def remote(app_server: AppServer, settings: Any) -> Iterator[RemoteRunner]:
    settings.PROCESS_JOB_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    yield remote_runners.declare(
        make_app(), "Order", app_server.url, timeout_seconds=1, actor="ana"
    )
    remote_runners.known_models.clear()


def test_an_app_is_called_with_a_signature_and_the_fence(
    mongo: Database[Any], remote: RemoteRunner, app_server: AppServer
) -> None:
    queue = services.new_queue()
    for _ in range(2):
        queue.enqueue("Order", {"id": ObjectId("6" * 24)}, {"userId": "their-ana"})
        assert queue.process_one(services.run)
    headers, body = app_server.calls[1]
    told = Webhook(remote.secret).verify(body, {k.lower(): v for k, v in headers.items()})
    assert told == json.loads(body)
    assert told["accessContext"] == {"userId": "their-ana"}
    assert told["fence"] == int(headers["pombo-fence"]) == 2
    assert told["target"] == dedupe_key("Order", {"id": ObjectId("6" * 24)})


@pytest.mark.parametrize(
    ("status", "state"), [(503, "pending"), (0, "pending"), (422, "failed"), (410, "failed")]
)
def test_what_an_app_answers_decides_whether_it_is_asked_again(
    mongo: Database[Any], remote: RemoteRunner, app_server: AppServer, status: int, state: str
) -> None:
    app_server.status = status  # 0: no answer within the time-out
    queue = services.new_queue()
    queue.enqueue("Order", {"id": 1})
    assert queue.process_one(services.run)
    assert mongo[JOBS].find_one({})["status"] == state


def test_an_app_inside_our_network_is_not_called_unless_allowed(
    mongo: Database[Any], remote: RemoteRunner, app_server: AppServer, settings: Any
) -> None:
    settings.PROCESS_JOB_ALLOWED_NETWORKS = []
    queue = services.new_queue()
    queue.enqueue("Order", {"id": 1})
    assert queue.process_one(services.run)
    assert mongo[JOBS].find_one({})["status"] == "failed"
    assert app_server.calls == []


def test_a_switched_off_runner_claims_nothing(
    mongo: Database[Any], remote: RemoteRunner, app_server: AppServer
) -> None:
    RemoteRunner.objects.update(is_active=False)
    remote_runners.known_models.clear()
    queue = services.new_queue()
    queue.enqueue("Order", {"id": 1})
    make_due(mongo)
    assert not queue.process_one(services.run)


def test_a_job_mends_a_wrong_usage_total(mongo: Database[Any]) -> None:
    make_metric()
    ingest([report(quantity=7)], now=NOW)
    UsageTotal.objects.update(used=99)
    services.enqueue("UsageTotal", {"appCode": "loja", "metric": "orders", "period": PERIOD})
    services.new_queue().drain()
    assert total().used == 7
    assert mongo[JOBS].count_documents({}) == 0


def test_a_metric_that_is_gone_ends_at_once(mongo: Database[Any]) -> None:
    selectors = {"appCode": "none", "metric": "orders", "period": "2026-03-01"}
    services.enqueue("UsageTotal", selectors)
    services.new_queue().drain()
    assert mongo[JOBS].find_one({})["status"] == "failed"
