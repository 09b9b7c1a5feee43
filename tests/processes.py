"""Real processes of Pombo on the tests' database."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import connection

ROOT = Path(__file__).parents[1]


def database_url() -> str:
    """The address of the database that the running test uses."""
    settings = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{settings['NAME']}"
    scheme = {"mysql": "mysql", "postgresql": "postgres"}[connection.vendor]
    password = f":{settings['PASSWORD']}" if settings["PASSWORD"] else ""
    host = f"{settings['HOST'] or '127.0.0.1'}:{settings['PORT'] or ''}".rstrip(":")
    return f"{scheme}://{settings['USER']}{password}@{host}/{settings['NAME']}"


@contextmanager
def running(*command: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A Python process in a group of its own, killed with the whole group at the end."""
    process = subprocess.Popen(
        [sys.executable, *command],
        cwd=ROOT,
        env=os.environ | {"DATABASE_URL": database_url()} | environment,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        kill_group(process)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """SIGKILL to the process and all that it started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
