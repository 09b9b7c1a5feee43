"""A whole Pombo, set up and started as `make run` does, from a fresh clone."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
import requests

from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
MAKE_RUN_STEPS = (
    ("-m", "config.envfile"),
    ("manage.py", "compilemessages", "-v", "0"),
)


@dataclass(frozen=True)
class Platform:
    """A running platform: where it answers, how to sign in, and where it lives."""

    address: str
    password: str
    folder: Path
    process: subprocess.Popen[bytes]

    def manage(self, *arguments: str) -> str:
        """What a management command printed, in the clone."""
        return _python(self.folder, "manage.py", *arguments)


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """Web server and worker of a fresh clone, stopped by one Ctrl-C."""
    folder = tmp_path_factory.mktemp("clone") / "pombo"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    for step in MAKE_RUN_STEPS:
        _python(folder, *step)
    shown = _python(folder, "manage.py", "bootstrap")
    password = re.search(r"password  (\S+)", shown)
    assert password, shown
    port = _free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "config.run"],
        cwd=folder,
        env=_environment() | {"PORT": str(port)},
        start_new_session=True,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: _answers(address), seconds=60)
        yield Platform(address, password[1], folder, process)
    finally:
        _stop_by_interrupt(process)
        shutil.rmtree(folder)


def _stop_by_interrupt(process: subprocess.Popen[bytes]) -> None:
    """One Ctrl-C ends all processes, cleanly and soon."""
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 0
    assert not [child for child in children if child.is_running()]


def _python(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _environment() -> dict[str, str]:
    """A newcomer's environment: nothing of the tests' own settings."""
    ours = (
        "ENV_FILE",
        "SECRET_KEY",
        "SECURE_",
        "LOG_",
        "API_RATE",
        "MEDIA_",
        "DATABASE_",
        "DJANGO_",
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return kept | {"API_RATE_ANONYMOUS": "100000/min"}  # tests ask more often than people


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(address: str) -> bool:
    try:
        return requests.get(f"{address}/health/live", timeout=2).ok
    except (requests.ConnectionError, requests.Timeout):  # a worker may still be importing
        return False
