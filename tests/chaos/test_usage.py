"""Eight apps report usage while they, and the web servers, are killed: the totals are exact."""

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import psutil
import pytest
import requests
from django.utils import timezone

from apps.delivery.models import UsageEvent, UsageReservation, UsageTotal
from apps.delivery.services.usage import recompute
from apps.delivery.services.usage_accounts import issue_app_token
from tests.delivery.rows import make_app
from tests.delivery.usage_rows import make_metric
from tests.processes import ROOT, database_url, kill_group, running
from tests.servers import free_port
from tests.waiting import wait_until

from .usage_reporter import METRICS, metric, quantity

CLIENTS = 8
# 100000 for the full run; the usual one keeps the suite quick.
EVENTS = int(os.environ.get("USAGE_CHAOS_EVENTS", "8000"))
BURST_LIMIT = 60
SEED = random.randrange(10**6)
ENVIRONMENT = {"DJANGO_SETTINGS_MODULE": "tests.settings"}

pytestmark = [pytest.mark.chaos, pytest.mark.mysql, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def server() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A web server with two workers, and its manager, which replaces a killed one."""
    port = free_port()
    command = ["-m", "gunicorn", "config.wsgi", "--workers=2", f"--bind=127.0.0.1:{port}"]
    with running(*command, "--log-level=critical", **ENVIRONMENT) as manager:
        url = f"http://127.0.0.1:{port}"
        wait_until(lambda: _is_up(url), seconds=60)
        yield url, manager


def _is_up(url: str) -> bool:
    try:
        return requests.get(f"{url}/health/live", timeout=5).ok
    except requests.RequestException:
        return False


class Reporter:
    """A client process that is started again until it ends by itself."""

    def __init__(self, *arguments: str) -> None:
        self.arguments = arguments
        self.kill_count = 0
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.chaos.usage_reporter", *self.arguments],
            cwd=ROOT,
            start_new_session=True,
        )

    def kill(self) -> None:
        """SIGKILL, and begin from the first event."""
        if self.process.poll() is None:
            self.kill_count += 1
            kill_group(self.process)
            self.process = self._start()

    def is_done(self) -> bool:
        """Whether it has told everything."""
        return self.process.poll() is not None


def test_totals_equal_the_independent_sum(server: tuple[str, subprocess.Popen[bytes]]) -> None:
    address, manager = server
    rng = random.Random(SEED)
    app = make_app()
    for code in METRICS:
        make_metric(app, code)
    _token, secret = issue_app_token(app)
    count, now = EVENTS // CLIENTS, timezone.now()
    reporters = [
        Reporter(address, secret, str(number), str(count), now.isoformat())
        for number in range(CLIENTS)
    ]
    try:
        _kill_at_random(reporters, manager, rng)
        wait_until(lambda: all(reporter.is_done() for reporter in reporters), seconds=250)
    finally:
        for reporter in reporters:
            kill_group(reporter.process)
    assert [reporter.process.returncode for reporter in reporters] == [0] * CLIENTS, SEED
    assert sum(reporter.kill_count for reporter in reporters) >= CLIENTS // 2
    _assert_exact(count, str(SEED))


def _kill_at_random(
    reporters: list[Reporter], manager: subprocess.Popen[bytes], rng: random.Random
) -> None:
    """At every twelfth of the way kill a client, and every second time a web worker."""
    for step in range(1, 12):
        goal = EVENTS * step // 12
        wait_until(lambda goal=goal: UsageEvent.objects.count() >= goal, seconds=120)
        rng.choice(reporters).kill()
        workers = psutil.Process(manager.pid).children()
        if step % 2 and workers:
            workers[rng.randrange(len(workers))].send_signal(signal.SIGKILL)


def _assert_exact(count: int, seed: str) -> None:
    expected: Counter[str] = Counter()
    for number in range(CLIENTS):
        for index in range(count):
            expected[metric(index)] += quantity(number, index)
    found = dict(UsageTotal.objects.values_list("metric__code", "used"))
    assert found == dict(expected), seed
    assert UsageEvent.objects.count() == count * CLIENTS, seed
    for total in UsageTotal.objects.select_related("metric"):
        report = recompute("loja", total.metric.code, total.period, now=timezone.now())
        assert not report.is_corrected, report


def test_a_burst_of_processes_takes_exactly_what_the_plan_has() -> None:
    make_metric(included=BURST_LIMIT, on_limit="block")
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.chaos.usage_burst", str(number)],
            cwd=ROOT,
            env=os.environ | {"DATABASE_URL": database_url()},
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(3)
    ]
    got = [int(process.communicate(timeout=200)[0]) for process in processes]
    total = UsageTotal.objects.get()
    assert sum(got) == BURST_LIMIT
    assert (total.used, total.reserved) == (0, BURST_LIMIT)
    assert UsageReservation.objects.filter(status="held").count() == BURST_LIMIT
