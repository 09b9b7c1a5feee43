"""What operators see of process jobs and do about them: API, admin, command, metrics, health."""

import json
import os
import signal
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from pymongo.database import Database
from rest_framework.test import APIClient

from apps.common.metrics import render
from apps.delivery.models import ProcessJobAction, RemoteRunner
from apps.delivery.process_jobs import JOBS, ProcessJobQueue
from apps.delivery.process_jobs.workers import SignOfLife
from apps.delivery.services import remote_runners
from tests.processes import running
from tests.waiting import wait_until

from .job_steps import failing
from .rows import make_app

pytestmark = [pytest.mark.mongo, pytest.mark.django_db]
LIST = "/api/v1/delivery/process-jobs/"
PAGE = "admin:delivery_process_jobs"
DECIDE = "admin:delivery_process_job_decide"


@pytest.fixture
def queue(mongo: Database[Any]) -> ProcessJobQueue:
    return ProcessJobQueue(mongo)


@pytest.fixture
def failed(mongo: Database[Any], queue: ProcessJobQueue) -> str:
    """A failed job."""
    queue.enqueue("Order", {"id": 1})
    queue.process_one(failing)
    mongo[JOBS].update_many({}, [{"$set": {"status": "failed", "failedAt": "$$NOW"}}])
    return str(mongo[JOBS].find_one({})["_id"])


@pytest.fixture
def api(api_as: Callable[..., APIClient]) -> APIClient:
    return api_as("delivery:read", "delivery:write")


def test_jobs_are_listed_by_state_with_their_error_redacted(
    api: APIClient, failed: str, queue: ProcessJobQueue
) -> None:
    queue.enqueue("Order", {"id": 2})
    assert api.get(LIST).json()["count"] == 2
    (row,) = api.get(LIST, {"state": "failed"}).json()["results"]
    assert row["id"] == failed
    assert row["last_error"] == "cannot reach mongodb://…@db/orders"
    assert api.get(f"{LIST}{failed}/").json() == row
    assert api.get(LIST, {"state": "odd"}).status_code == 400


def test_a_page_of_many_jobs_is_read_alone(api: APIClient, queue: ProcessJobQueue) -> None:
    for number in range(7):
        queue.enqueue("Order", {"id": number})
    page = api.get(LIST, {"page_size": 3, "page": 3}).json()
    assert [row["selectors"] for row in page["results"]] == ['{"id": 6}']


@pytest.mark.parametrize(
    ("verb", "left"), [("retry", {"status": "pending", "attempts": 0}), ("discard", None)]
)
def test_a_failed_job_is_decided_once(
    api: APIClient, mongo: Database[Any], failed: str, verb: str, left: Any
) -> None:
    assert api.post(f"{LIST}{failed}/{verb}/", {}).status_code == 400
    assert api.post(f"{LIST}{failed}/{verb}/", {"reason": "mended"}).status_code == 200
    again = api.post(f"{LIST}{failed}/{verb}/", {"reason": "mended"})
    assert (again.status_code, again.json()["error"]["code"]) == (409, "process_job_moved")
    assert mongo[JOBS].find_one({}, {"_id": 0, "status": 1, "attempts": 1}) == left
    log = ProcessJobAction.objects.get()
    assert (log.job_id, log.action, log.actor, log.reason) == (failed, verb, "owner", "mended")


@pytest.mark.parametrize(("verb", "count"), [("run-now", 1), ("cancel", 0)])
def test_a_waiting_job_is_run_at_once_or_cancelled(
    api: APIClient, mongo: Database[Any], queue: ProcessJobQueue, verb: str, count: int
) -> None:
    queue.enqueue("Order", {"id": 1})
    queue.process_one(failing)
    (row,) = api.get(LIST).json()["results"]
    assert api.post(f"{LIST}{row['id']}/{verb}/", {"reason": "asked"}).status_code == 200
    assert queue.drain(lambda *_: None) == count
    assert mongo[JOBS].count_documents({}) == 0


def test_what_is_no_id_or_is_done_is_not_found(api: APIClient, mongo: Database[Any]) -> None:
    for job_id in ("nonsense", "6" * 24):
        answer = api.get(f"{LIST}{job_id}/")
        assert (answer.status_code, answer.json()["error"]["code"]) == (
            404,
            "process_job_not_found",
        )


@pytest.mark.django_db(transaction=True)
def test_a_recalculation_is_asked_for_by_model(api: APIClient, mongo: Database[Any]) -> None:
    wish = {"model": "UsageTotal", "selectors": {"appCode": "loja"}}
    assert api.post(LIST, wish).status_code == 202
    job = mongo[JOBS].find_one({})
    assert job["accessContext"]["userId"] == "owner"
    unknown = api.post(LIST, {"model": "Odd", "selectors": {}})
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (400, "no_process_runner")


def test_without_mongodb_the_list_says_so(api: APIClient, settings: Any) -> None:
    settings.MONGODB_URI = ""
    answer = api.get(LIST)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "mongodb_not_configured")


def test_scopes_keep_others_out(api_as: Callable[..., APIClient], failed: str) -> None:
    reader = api_as("delivery:read")
    assert reader.post(f"{LIST}{failed}/discard/", {"reason": "x"}).status_code == 403
    assert api_as("flags:read").get(LIST).status_code == 403


def test_workers_are_listed(api: APIClient, mongo: Database[Any]) -> None:
    with SignOfLife(mongo, "w1", lambda: {"Order"}):
        (worker,) = api.get("/api/v1/delivery/process-workers/").json()
    assert (worker["name"], worker["is_alive"], worker["pid"]) == ("w1", True, os.getpid())


def test_an_app_declares_a_recalculation_and_sees_its_secret_once(api: APIClient) -> None:
    make_app()
    address = "/api/v1/delivery/process-runners/"
    wish = {"app": "loja", "model_name": "Order", "url": "https://loja.example/recalculate"}
    made = api.post(address, wish).json()
    assert made["secret"].startswith("whsec_")
    assert "secret" not in api.get(f"{address}{made['id']}/").json()
    assert api.post(address, wish).status_code == 400
    remote_runners.known_models.clear()
    assert remote_runners.active_models() == {"Order"}
    assert api.delete(f"{address}{made['id']}/").status_code == 204
    assert remote_runners.active_models() == set()


def test_the_admin_shows_jobs_workers_and_asks_before_it_discards(
    admin_client: Client, mongo: Database[Any], failed: str
) -> None:
    with SignOfLife(mongo, "w1", lambda: {"Order"}):
        page = admin_client.get(reverse(PAGE), {"state": "failed"}).content.decode()
    assert "w1" in page
    assert "mongodb://…@db/orders" in page
    wish = {"job": failed, "action": "discard"}
    asked = admin_client.post(reverse(DECIDE), wish)
    assert "cannot be brought back" in asked.content.decode()
    assert mongo[JOBS].count_documents({}) == 1
    admin_client.post(reverse(DECIDE), wish | {"reason": "too old"})
    assert mongo[JOBS].count_documents({}) == 0
    log = reverse("admin:delivery_processjobaction_changelist")
    assert "too old" in admin_client.get(log).content.decode()


def test_a_viewer_sees_and_decides_nothing(client: Client, failed: str) -> None:
    viewer = User.objects.create_user("viewer", is_staff=True)
    client.force_login(viewer)
    assert client.get(reverse(PAGE)).status_code == 403
    assert client.post(reverse(DECIDE), {"job": failed, "action": "retry"}).status_code == 403


def test_the_admin_says_that_jobs_in_memory_do_not_survive(
    admin_client: Client, settings: Any
) -> None:
    settings.MONGODB_URI = ""
    assert "will not survive a restart" in admin_client.get(reverse(PAGE)).content.decode()


def test_the_admin_adds_an_app_and_shows_the_secret(admin_client: Client) -> None:
    app = make_app()
    wish = {"app": app.pk, "model_name": "Order", "url": "https://loja.example/r"}
    address = reverse("admin:delivery_remoterunner_add")
    answer = admin_client.post(
        address, wish | {"timeout_seconds": 5, "is_active": "on"}, follow=True
    )
    assert RemoteRunner.objects.get().secret in answer.content.decode()


def manage(*words: str) -> Any:
    out = StringIO()
    call_command("process_jobs", *words, "--json", stdout=out)
    return json.loads(out.getvalue())


def test_the_command_shows_retries_and_purges(failed: str, mongo: Database[Any]) -> None:
    (row,) = manage("status")["depth"]
    assert row == {"model": "Order", "state": "failed", "count": 1}
    assert manage("retry", "--reason", "x", "--dry-run") == {"would_be_retried": [failed]}
    assert manage("purge", "--days", "1", "--reason", "x") == {"purged": 0}
    assert manage("retry", failed, "--reason", "x") == {"retried": 1}
    mongo[JOBS].update_many({}, {"$set": {"model": "UsageTotal"}})
    assert manage("drain") == {"processed": 1}
    assert manage("purge", "--model", "UsageTotal", "--reason", "x") == {"purged": 1}


def test_the_command_without_mongodb(settings: Any) -> None:
    settings.MONGODB_URI = ""
    assert manage("status")["survives_restart"] is False
    with pytest.raises(CommandError, match="MONGODB_URI"):
        manage("work")


@pytest.mark.django_db(transaction=True)
def test_a_worker_process_works_and_stops_on_sigterm(mongo: Database[Any], settings: Any) -> None:
    environment = {"MONGODB_URI": settings.MONGODB_URI, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    with running("manage.py", "process_jobs", "work", **environment) as worker:
        selectors = {"appCode": "none", "metric": "x", "period": "2026-03-01"}
        ProcessJobQueue(mongo).enqueue("UsageTotal", selectors)
        wait_until(lambda: mongo[JOBS].count_documents({"status": "failed"}) == 1)
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(20) == 0
    assert manage("status")["workers"] == []


def test_prometheus_reads_depth_age_and_workers(failed: str, mongo: Database[Any]) -> None:
    with SignOfLife(mongo, "w1", set):
        text = render().decode()
    assert 'pombo_process_job_depth{model="Order",state="failed"} 1.0' in text
    assert "pombo_process_job_workers 1.0" in text
    assert "pombo_mongodb_up 1.0" in text


def test_prometheus_sees_that_mongodb_is_away(settings: Any) -> None:
    from apps.delivery import mongodb

    settings.MONGODB_URI = "mongodb://127.0.0.1:9/?serverSelectionTimeoutMS=50"
    assert "pombo_mongodb_up 0.0" in render().decode()
    mongodb.forget_clients()
