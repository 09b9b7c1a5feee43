"""A MariaDB of one's own, that a test may stop, and web processes that ask for flags."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import MySQLdb
import requests

from tests.processes import ROOT, kill_group, running
from tests.waiting import wait_until

REDIS_URL = os.environ.get("TEST_REDIS_URL", "redis://127.0.0.1:6379/1")
# The server refuses to run as root unless told so.
AS_ROOT = ["--user=root"] if os.geteuid() == 0 else []


def free_port() -> int:
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


class PrivateMariaDB:
    """A server in a folder, started and stopped at will."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.url = f"mysql://root@127.0.0.1:{self.port}/flags"
        self._process: subprocess.Popen[bytes] | None = None
        subprocess.run(
            [
                "mariadb-install-db",
                "--no-defaults",
                f"--datadir={folder}",
                "--auth-root-authentication-method=normal",
                *AS_ROOT,
            ],
            check=True,
            capture_output=True,
        )

    def start(self) -> None:
        """Return when it answers."""
        options = [
            "--no-defaults",
            f"--datadir={self.folder}",
            f"--port={self.port}",
            "--bind-address=127.0.0.1",
            f"--socket={self.folder}/socket",
            f"--pid-file={self.folder}/pid",
            *AS_ROOT,
        ]
        self._process = subprocess.Popen(
            ["mariadbd", *options], stderr=subprocess.DEVNULL, start_new_session=True
        )
        wait_until(self._answers, seconds=60)

    def stop(self) -> None:
        """As by a power cut."""
        if self._process is not None:
            kill_group(self._process)

    def run(self, statement: str, database: str = "") -> None:
        """Run one statement, committed at once."""
        with closing(
            MySQLdb.connect(host="127.0.0.1", port=self.port, user="root", database=database)
        ) as connection:
            connection.autocommit(True)
            connection.cursor().execute(statement)

    def _answers(self) -> bool:
        try:
            self.run("SELECT 1")
        except MySQLdb.OperationalError:
            return False
        return True


class AskingServer:
    """One web process on a port."""

    def __init__(self, port: int) -> None:
        self._address = f"http://127.0.0.1:{port}/"

    def is_on(self, flag: str, subject: str = "") -> bool:
        """The answer for a subject; raises for anything but an answer."""
        answer = requests.get(self._address, {"flag": flag, "subject": subject}, timeout=20)
        answer.raise_for_status()
        return answer.text == "on"

    def set_percent(self, flag: str, percent: int) -> None:
        """Change the flag in that process."""
        wish = {"flag": flag, "percent": str(percent)}
        requests.post(self._address, params=wish, timeout=20).raise_for_status()


@contextmanager
def asking_server(database_url: str, **environment: str) -> Iterator[AskingServer]:
    """A gunicorn with one worker of four threads."""
    port = free_port()
    options = ["--bind", f"127.0.0.1:{port}", "--threads", "1", "--log-level", "error"]
    command = ["-m", "gunicorn", "tests.flags.asking_server", *options]
    with running(*command, DATABASE_URL=database_url, **environment):
        server = AskingServer(port)
        wait_until(lambda: _is_up(server), seconds=60)
        yield server


def _is_up(server: AskingServer) -> bool:
    try:
        server.is_on("any")
    except requests.ConnectionError:
        return False
    return True


def manage(database_url: str, *arguments: str) -> None:
    """Run a management command on a database."""
    environment = os.environ | {
        "DATABASE_URL": database_url,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
    }
    subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment,
        check=True,
        capture_output=True,
    )
