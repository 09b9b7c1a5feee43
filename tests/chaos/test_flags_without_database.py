"""The database of two real web servers is killed under load: no flag answer fails or changes."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest
import requests

from tests.servers import PrivateMariaDB, free_port, private_mariadb
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
OUTAGE_SECONDS = float(os.environ.get("FLAG_OUTAGE_SECONDS", "12"))
SUBJECTS = [f"user-{number}" for number in range(20)]

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.mysql,
    pytest.mark.skipif(not PrivateMariaDB.is_available(), reason="needs MariaDB's programs"),
]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[PrivateMariaDB]:
    with private_mariadb(tmp_path) as server:
        yield server


@pytest.fixture
def environment(database: PrivateMariaDB) -> dict[str, str]:
    return os.environ | {
        "ENV_FILE": os.devnull,
        "DATABASE_URL": database.url("flags"),
        "DB_CONN_MAX_AGE_SECONDS": "0",
        "SECRET_KEY": "chaos",
        "DEBUG": "true",
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "FEATURE_FLAG_CACHE_TTL_MS": "5000",
    }


@pytest.fixture
def servers(environment: dict[str, str]) -> Iterator[list[str]]:
    for command in (["migrate", "-v0"], ["flags", "set", "half", "--on", "--percent", "50"]):
        subprocess.run(
            [sys.executable, "manage.py", *command],
            cwd=ROOT,
            env=environment,
            check=True,
            capture_output=True,
        )
    ports = [free_port(), free_port()]
    command = [sys.executable, "-m", "gunicorn", "tests.e2e.flag_app", "--threads", "4", "--bind"]
    processes = [
        subprocess.Popen([*command, f"127.0.0.1:{port}"], cwd=ROOT, env=environment)
        for port in ports
    ]
    addresses = [f"http://127.0.0.1:{port}" for port in ports]
    for address in addresses:
        wait_until(lambda address=address: answer(address, "a") in {"on", "off"}, seconds=40)
    yield addresses
    for process in processes:
        process.terminate()
    for process in processes:
        process.wait(timeout=30)


def answer(address: str, subject: str) -> str:
    try:
        return requests.get(f"{address}/half/{subject}", timeout=5).text
    except requests.ConnectionError:
        return "no answer"


class Load:
    """Asks both servers for all subjects without pause, and keeps what differs."""

    def __init__(self, servers: list[str]) -> None:
        self.expected = {subject: answer(servers[0], subject) for subject in SUBJECTS}
        self.wrong: list[tuple[str, str, str]] = []
        self.count = 0
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._ask, args=[each]) for each in servers]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _ask(self, address: str) -> None:
        while not self._stop.is_set():
            for subject, expected in self.expected.items():
                found = answer(address, subject)
                self.count += 1
                if found != expected:
                    self.wrong.append((address, subject, found))


def test_no_answer_fails_or_changes_and_all_recovers_by_itself(
    database: PrivateMariaDB, servers: list[str]
) -> None:
    with Load(servers) as load:
        asked = load.count
        database.stop()
        threading.Event().wait(OUTAGE_SECONDS)
        assert load.count > asked + 100
        database.start()
        database.query("RENAME TABLE feature_flag TO feature_flag_away", "flags")
        threading.Event().wait(6)
        database.query("RENAME TABLE feature_flag_away TO feature_flag", "flags")
    assert not load.wrong
    database.query("UPDATE feature_flag SET is_enabled = 0 WHERE flag_name = 'half'", "flags")
    for address in servers:
        wait_until(
            lambda address=address: {answer(address, s) for s in SUBJECTS} == {"off"}, seconds=45
        )
