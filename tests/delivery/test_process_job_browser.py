"""An operator in a real browser: a failed job, its reason, Try again, and the log of it."""

import os
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page
from pymongo.database import Database

from apps.delivery.models import ProcessJobAction
from apps.delivery.process_jobs import JOBS, ProcessJobQueue

from .job_steps import failing
from .test_browser import visit

pytestmark = [pytest.mark.browser, pytest.mark.mongo, pytest.mark.django_db(transaction=True)]


def test_a_failed_job_is_sent_back_with_a_reason(
    live_server: Any, owner: User, mongo: Database[Any]
) -> None:
    queue = ProcessJobQueue(mongo)
    queue.enqueue("Order", {"id": 1})
    queue.process_one(failing)
    mongo[JOBS].update_many({}, [{"$set": {"status": "failed", "failedAt": "$$NOW"}}])

    def work(page: Page) -> str:
        page.goto(f"{live_server.url}/admin/delivery/processjobaction/")
        page.get_by_role("link", name="Jobs and workers").click()
        page.get_by_role("navigation", name="States").get_by_role("link", name="failed").click()
        if picture := os.environ.get("PICTURE"):
            page.screenshot(path=picture)
        page.get_by_role("button", name="Try again").click()
        page.get_by_label("Why?").fill("mended")
        page.get_by_role("button", name="Yes, go on").click()
        return page.get_by_text("1 job changed.").inner_text()

    assert visit(str(live_server.url), work).result(60) == "1 job changed."
    assert mongo[JOBS].find_one({})["status"] == "pending"
    assert ProcessJobAction.objects.get().reason == "mended"
