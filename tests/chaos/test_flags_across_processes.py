"""A flag changed by one process is seen by two web servers within a second, through Redis."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import redis
import requests

from tests.processes import ROOT, database_url, running
from tests.servers import free_port
from tests.waiting import wait_until

REDIS_URL = os.environ.get("TEST_REDIS_URL", "redis://127.0.0.1:6379/1")
# So long that only the shared cache can have brought the news.
ENVIRONMENT = {
    "DJANGO_SETTINGS_MODULE": "tests.settings",
    "REDIS_URL": REDIS_URL,
    "FEATURE_FLAG_CACHE_TTL_MS": "3600000",
}


def has_redis() -> bool:
    try:
        redis.Redis.from_url(REDIS_URL).ping()
    except redis.ConnectionError:
        return False
    return True


pytestmark = [
    pytest.mark.chaos,
    pytest.mark.skipif(not has_redis(), reason="needs Redis"),
    pytest.mark.django_db(transaction=True),
]


def answer(address: str) -> str:
    try:
        return requests.get(f"{address}/news/anybody", timeout=5).text
    except requests.ConnectionError:
        return "no answer"


def switch(position: str) -> None:
    """Change the flag in a process of its own, and return when it has ended."""
    subprocess.run(
        [sys.executable, "manage.py", "flags", "set", "news", position],
        cwd=ROOT,
        env=os.environ | ENVIRONMENT | {"DATABASE_URL": database_url()},
        check=True,
        capture_output=True,
    )


@pytest.fixture
def servers() -> Iterator[list[str]]:
    switch("--off")
    ports = [free_port(), free_port()]
    addresses = [f"http://127.0.0.1:{port}" for port in ports]
    with ExitStack() as stack:
        for port in ports:
            command = ["-m", "gunicorn", "tests.e2e.flag_app", "--bind", f"127.0.0.1:{port}"]
            stack.enter_context(running(*command, **ENVIRONMENT))
        for address in addresses:
            wait_until(lambda address=address: answer(address) == "off", seconds=40)
        yield addresses


def test_a_change_is_seen_by_all_processes_within_a_second(servers: list[str]) -> None:
    for position, expected in (("--on", "on"), ("--off", "off"), ("--on", "on")):
        switch(position)
        wait_until(
            lambda want=expected: [answer(address) for address in servers] == [want] * 2, seconds=1
        )
