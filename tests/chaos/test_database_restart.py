"""The database server restarts, loses its power, or has its clock moved: workers go on.

A private MariaDB in a temporary folder has to bear it, never the one that others use.
"""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import kill_group, running
from tests.servers import PrivateMariaDB, clock_library, private_mariadb
from tests.waiting import wait_until

EVENTS = int(os.environ.get("CHAOS_RESTART_EVENTS", "1000"))
DATABASE = "pombo_restart"
WORKER = ("-m", "tests.chaos.drainer")
HOUR = 3600

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.mysql,
    pytest.mark.skipif(not PrivateMariaDB.is_available(), reason="needs MariaDB's programs"),
]


def settings_for(server: PrivateMariaDB) -> dict[str, str]:
    return {"DATABASE_URL": server.url(DATABASE), "DJANGO_SETTINGS_MODULE": "tests.settings"}


def manage(settings: dict[str, str], *command: str) -> None:
    """Run a command of Pombo to its end."""
    with running("-m", "django", *command, **settings) as process:
        assert process.wait(120) == 0


class Work:
    """Events to be counted on a private server, and what has become of them."""

    def __init__(self, server: PrivateMariaDB) -> None:
        self.server = server
        self._true_time = f"FROM_UNIXTIME({int(time.time()) + HOUR // 2})"
        self.settings = settings_for(server)
        manage(self.settings, "migrate", "--verbosity=0")
        server.query(
            "INSERT INTO domain_event_outbox (event_type, aggregate_type, aggregate_id, payload)"
            f" SELECT 'COUNTED', 't', seq, '{{}}' FROM seq_1_to_{EVENTS}",
            DATABASE,
        )

    def completed(self) -> int:
        return self._count("domain_event_outbox", "status = 'completed'")

    def leases_ahead(self) -> int:
        """Rows whose lease began after the true time."""
        return self._count(
            "domain_event_outbox", f"status = 'processing' AND locked_at > {self._true_time}"
        )

    def assert_done_once(self) -> None:
        """Each event had its effect exactly once, and none is dead."""
        assert self._count("feature_flag", "flag_name LIKE 'effect-%'") == EVENTS
        distinct = "COUNT(DISTINCT SUBSTRING_INDEX(flag_name, '-', 2))"
        query = f"SELECT {distinct} FROM feature_flag WHERE flag_name LIKE 'effect-%'"
        assert self.server.query(query, DATABASE)[0][0] == EVENTS
        assert self._count("domain_event_outbox_dlq", "1 = 1") == 0

    def _count(self, table: str, condition: str) -> int:
        return int(
            self.server.query(f"SELECT COUNT(*) FROM {table} WHERE {condition}", DATABASE)[0][0]
        )


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Work]:
    with private_mariadb(tmp_path) as server:
        yield Work(server)


@pytest.fixture
def work_under_a_movable_clock(tmp_path: Path) -> Iterator[Work]:
    with private_mariadb(tmp_path, has_movable_clock=True) as server:
        yield Work(server)


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGKILL], ids=["restart", "power cut"])
def test_workers_outlive_a_restart_of_the_database(work: Work, sign: int) -> None:
    with running(*WORKER, **work.settings) as first, running(*WORKER, **work.settings) as second:
        wait_until(lambda: work.completed() > EVENTS // 10, seconds=60)
        work.server.stop(sign)
        work.server.start()
        wait_until(lambda: work.completed() == EVENTS, seconds=60 + EVENTS / 50)
        assert (first.poll(), second.poll()) == (None, None)
    work.assert_done_once()


def test_w2_w3_a_cluster_outlives_missing_tables_and_a_restart(tmp_path: Path) -> None:
    with private_mariadb(tmp_path) as server:
        settings = settings_for(server)
        events = [
            f"INSERT INTO domain_event_outbox (event_type, aggregate_type, aggregate_id, payload)"
            f" VALUES ('NEWS', 't', '{number}', '{{}}')"
            for number in (1, 2)
        ]

        def completed() -> int:
            query = "SELECT COUNT(*) FROM domain_event_outbox WHERE status = 'completed'"
            return int(server.query(query, DATABASE)[0][0])

        with running("manage.py", "qcluster", **settings) as cluster:
            wait_until(lambda: server.query("SHOW PROCESSLIST", DATABASE)[1:], seconds=60)
            manage(settings, "migrate", "--verbosity=0")
            manage(settings, "sync_schedules")
            server.query(events[0], DATABASE)
            wait_until(lambda: completed() == 1, seconds=120)
            server.stop()
            server.start()
            server.query(events[1], DATABASE)
            wait_until(lambda: completed() == 2, seconds=120)
            assert cluster.poll() is None


@pytest.mark.skipif(clock_library() is None, reason="needs Debian's package faketime")
def test_a_moved_clock_loses_doubles_and_holds_nothing(work_under_a_movable_clock: Work) -> None:
    work = work_under_a_movable_clock
    a_day_ahead = {"LD_PRELOAD": str(clock_library()), "FAKETIME": "+1d"}
    with running(*WORKER, **work.settings) as dying:
        wait_until(lambda: work.completed() > 0, seconds=60)
        work.server.move_clock(+HOUR)
        # Now its leases carry a time to which the clock will not come within this test.
        wait_until(lambda: work.leases_ahead() > 0, seconds=60)
        kill_group(dying)
    assert 0 < work.completed() < EVENTS
    work.server.move_clock(0)
    assert work.leases_ahead() > 0
    with running(*WORKER, **work.settings), running(*WORKER, **work.settings, **a_day_ahead):
        wait_until(lambda: work.completed() == EVENTS, seconds=60 + EVENTS / 50)
    work.assert_done_once()
