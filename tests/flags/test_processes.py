"""Two real web processes: they learn of each other's changes, and outlive their database."""

import itertools
import shutil
import threading
import time
from collections.abc import Iterator
from typing import Self

import pytest
import redis

from tests.flags.servers import REDIS_URL, AskingServer, PrivateMariaDB, asking_server, manage
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.skipif(not shutil.which("mariadbd"), reason="needs MariaDB's server program"),
]

OUTAGE_SECONDS = 8.0
SUBJECTS = [f"subject-{number}" for number in range(40)]
# The shortest lifetime that the setting allows, so that the outage spans it.
SHORT_TTL = {"FEATURE_FLAG_CACHE_TTL_MS": "5000"}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateMariaDB]:
    server = PrivateMariaDB(tmp_path_factory.mktemp("mariadb"))
    server.start()
    try:
        server.run("CREATE DATABASE flags CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci")
        manage(server.url, "migrate", "--verbosity=0")
        manage(server.url, "flags", "set", "half", "--on", "--percent=50")
        yield server
    finally:
        server.stop()


def has_redis() -> bool:
    try:
        redis.Redis.from_url(REDIS_URL).ping()
    except redis.ConnectionError:
        return False
    return True


class Load:
    """Threads that ask all the time and note every answer that is wrong or missing."""

    def __init__(self, servers: list[AskingServer]) -> None:
        self.expected = {name: servers[0].is_on("half", name) for name in SUBJECTS}
        self.answer_count, self.faults = 0, list[str]()
        self._is_over = threading.Event()
        self._threads = [threading.Thread(target=self._ask, args=(one,)) for one in servers]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join()

    def _ask(self, server: AskingServer) -> None:
        for subject in itertools.cycle(SUBJECTS):
            if self._is_over.wait(0.01):
                return
            try:
                if server.is_on("half", subject) != self.expected[subject]:
                    self.faults.append(subject)
            except Exception as error:  # noqa: BLE001 (whatever it is, the test shall show it)
                self.faults.append(repr(error))
            self.answer_count += 1


@pytest.mark.skipif(not has_redis(), reason="needs Redis")
def test_a_change_in_one_process_is_seen_in_the_other_within_a_second(
    database: PrivateMariaDB,
) -> None:
    with (
        asking_server(database.url, REDIS_URL=REDIS_URL) as one,
        asking_server(database.url, REDIS_URL=REDIS_URL) as other,
    ):
        for percent in (0, 100, 0, 50):
            one.set_percent("half", percent)
            expected = [one.is_on("half", name) for name in SUBJECTS[:8]]
            wait_until(
                lambda want=expected: [other.is_on("half", n) for n in SUBJECTS[:8]] == want,
                seconds=1,
            )


def test_answers_neither_fail_nor_change_while_the_database_is_away(
    database: PrivateMariaDB,
) -> None:
    with (
        asking_server(database.url, **SHORT_TTL) as one,
        asking_server(database.url, **SHORT_TTL) as other,
        Load([one, other]) as load,
    ):
        database.stop()
        started = time.monotonic()
        wait_until(lambda: time.monotonic() - started > OUTAGE_SECONDS)
        database.start()
        manage(database.url, "flags", "set", "new", "--on")
        wait_until(lambda: one.is_on("new") and other.is_on("new"), seconds=60)
    assert load.faults == []
    assert load.answer_count > 200


def test_a_table_that_is_dropped_and_made_again_is_found_without_a_restart(
    database: PrivateMariaDB,
) -> None:
    with asking_server(database.url, **SHORT_TTL) as server:
        with Load([server]) as load:
            database.run("CREATE TABLE kept LIKE feature_flag", "flags")
            database.run("INSERT INTO kept SELECT * FROM feature_flag", "flags")
            database.run("DROP TABLE feature_flag", "flags")
            started = time.monotonic()
            wait_until(lambda: time.monotonic() - started > OUTAGE_SECONDS)
            database.run("RENAME TABLE kept TO feature_flag", "flags")
        manage(database.url, "flags", "set", "newer", "--on")
        wait_until(lambda: server.is_on("newer"), seconds=60)
    assert load.faults == []
