"""An operator in a real browser: Deploy, plan, confirm, progress, succeeded; then a bad release."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Page, sync_playwright

from apps.delivery.kube.cluster import Cluster
from apps.delivery.models import Deployment, Environment
from apps.delivery.services import rollouts
from tests.waiting import wait_until

from .kube_server import KubeServer
from .rollouts import BAD, GOOD, Host, make_release

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
CHROMIUM = "/usr/bin/chromium"
DEADLINE_MS = 20_000


@pytest.fixture
def server() -> Iterator[KubeServer]:
    """Pods take their time, so that progress is seen."""
    with KubeServer(ready_seconds=0.5) as running:
        yield running


@pytest.fixture
def site(live_server: Any, settings: Any, server: KubeServer, host: Host, owner: User) -> str:
    settings.KUBE_URL, settings.KUBE_TOKEN = server.url, "admin"
    return str(live_server.url)


def visit(site: str, work: Callable[[Page], str]) -> "Future[str]":
    """Start a visit in a thread of its own: the browser's loop must not be the database's."""

    def run() -> str:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            page = browser.new_context(locale="en").new_page()
            page.set_default_timeout(DEADLINE_MS)
            try:
                sign_in(page, site)
                return work(page)
            finally:
                browser.close()

    pool = ThreadPoolExecutor(1)
    future = pool.submit(run)
    pool.shutdown(wait=False)
    return future


def sign_in(page: Page, site: str) -> None:
    page.goto(f"{site}/admin/login/")
    page.fill("input[name=username]", "owner")
    page.fill("input[name=password]", "owner-password")
    page.click("button[type=submit]")
    page.wait_for_url("**/admin/")


def deploy(page: Page, site: str, environment: Environment) -> None:
    """From the environment's page to the deployment's."""
    page.goto(f"{site}/admin/delivery/environment/{environment.pk}/change/")
    page.get_by_role("link", name="Deploy", exact=True).first.click()
    page.get_by_role("button", name="Show the plan").click()
    page.wait_for_url("**/deploymentplan/**")
    page.fill("#note", "from the browser")
    page.click("#confirm")
    page.wait_for_url("**/delivery/deployment/**")


def drive_behind(future: "Future[str]", cluster: Cluster, count: int) -> str:
    """The worker's part, in this thread, until the visit is over."""
    wait_until(lambda: Deployment.objects.count() == count or future.done())
    rollouts.drive(cluster, clock=timezone.now, max_seconds=20)
    return future.result(timeout=60)


def until_over(page: Page, site: str, environment: Environment) -> str:
    deploy(page, site, environment)
    final = ", ".join(f"[data-phase={phase}]" for phase in ("succeeded", "rolled_back", "failed"))
    page.wait_for_selector(final)
    return page.inner_text(".rollout")


def test_a_good_release_succeeds_and_a_bad_one_comes_back(
    site: str, environment: Environment, cluster: Cluster, server: KubeServer
) -> None:
    make_release(environment, GOOD)
    good = visit(site, lambda page: until_over(page, site, environment))
    text = drive_behind(good, cluster, 1)
    assert "100 %" in text
    assert "verified" in text

    server.kubelet.behaviours[BAD] = "crash"
    make_release(environment, BAD)
    bad = visit(site, lambda page: until_over(page, site, environment))
    text = drive_behind(bad, cluster, 2)
    assert "rolled back" in text
    assert "crash_loop: central: ended with exit code 1" in text
