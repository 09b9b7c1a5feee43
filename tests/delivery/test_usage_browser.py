"""An operator reads an app's usage in a real browser, under the admin's content policy."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Page

from apps.delivery.services.usage import ingest

from .test_browser import visit
from .usage_rows import make_metric, report

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_usage_page_is_drawn_without_a_complaint(live_server: Any, owner: User) -> None:
    app = make_metric(included=10, on_limit="block").app
    now = timezone.now()
    ingest([report("a", 9, occurred_at=now, subject="ana")], now=now)
    complaints: list[str] = []

    def read(page: Page) -> str:
        page.on("console", lambda message: complaints.append(message.text))
        page.goto(f"{live_server.url}/admin/delivery/app/{app.pk}/change/")
        page.get_by_role("link", name="Usage", exact=True).click()
        bar = page.locator("svg.limit .used").bounding_box()
        whole = page.locator("svg.limit .whole").bounding_box()
        assert bar is not None
        assert whole is not None
        assert round(bar["width"] / whole["width"], 2) == 0.9
        page.locator("summary", has_text="Figures").click()
        assert page.get_by_role("rowheader", name="ana").is_visible()
        return page.locator(".usage h1").inner_text()

    assert visit(live_server.url, read).result(90) == "Usage of loja"
    assert complaints == []
