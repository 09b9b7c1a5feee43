"""Private database servers for tests that stop them or move their clock; never the shared ones."""

import getpass
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import MySQLdb

from tests.waiting import wait_until

USER = getpass.getuser()
# Debian's faketime package: the variant for programs with threads.
_FAKETIME = "faketime/libfaketimeMT.so.1"


def free_port() -> int:
    """A loopback port that nobody uses right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def clock_library() -> str | None:
    """The library that moves a program's clock; None where it is not installed."""
    found = next(Path("/usr/lib").glob(f"*/{_FAKETIME}"), None)
    return str(found) if found else None


class PrivateMariaDB:
    """A MariaDB of our own in a folder, which can be stopped and started again.

    With `has_movable_clock` its wall clock follows `move_clock`; monotonic time stays true.
    """

    def __init__(self, folder: Path, *, has_movable_clock: bool = False) -> None:
        self.folder = folder / "mariadb"
        self.port = free_port()
        self._clock = folder / "clock" if has_movable_clock else None
        self._process: subprocess.Popen[bytes] | None = None
        self.move_clock(0)
        # The installer takes the user of the folder's owner; as root that has to be said.
        command = ["mariadb-install-db", "--no-defaults", f"--datadir={self.folder}"]
        subprocess.run(
            [*command, f"--user={USER}", "--skip-test-db"], check=True, capture_output=True
        )

    @staticmethod
    def is_available() -> bool:
        """Whether the machine has the server's programs."""
        return bool(shutil.which("mariadbd") and shutil.which("mariadb-install-db"))

    def start(self) -> None:
        """Start and wait until it answers."""
        self._process = subprocess.Popen(
            [
                "mariadbd",
                "--no-defaults",
                f"--user={USER}",
                f"--datadir={self.folder}",
                f"--port={self.port}",
                "--bind-address=127.0.0.1",
                f"--socket={self.folder}/s",
                f"--pid-file={self.folder}/pid",
                "--skip-grant-tables",
                "--skip-networking=0",
                "--innodb-buffer-pool-size=64M",
            ],
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=os.environ | self._clock_environment(),
        )
        wait_until(self._answers, seconds=60)

    def stop(self, sign: int = signal.SIGKILL) -> None:
        """End it: SIGKILL like a power cut, SIGTERM like a restart."""
        if self._process is not None:
            self._process.send_signal(sign)
            self._process.wait(60)
            self._process = None

    def move_clock(self, seconds: int) -> None:
        """Set the server's clock so far before or behind the true time."""
        if self._clock is not None:
            fresh = self._clock.with_suffix(".new")
            fresh.write_text(f"{seconds:+d}\n")
            fresh.replace(self._clock)

    def url(self, database: str) -> str:
        """The address of a database on it, made when it is missing."""
        self.query(f"CREATE DATABASE IF NOT EXISTS {database}")
        return f"mysql://root@127.0.0.1:{self.port}/{database}"

    def query(self, sql: str, database: str = "") -> list[tuple[Any, ...]]:
        """The rows of one statement on a connection of its own."""
        link = MySQLdb.connect(
            host="127.0.0.1", port=self.port, user="root", database=database, autocommit=True
        )
        try:
            cursor = link.cursor()
            cursor.execute(sql)
            return list(cursor.fetchall())
        finally:
            link.close()

    def _clock_environment(self) -> dict[str, str]:
        if self._clock is None:
            return {}
        return {
            "LD_PRELOAD": str(clock_library()),
            "FAKETIME_TIMESTAMP_FILE": str(self._clock),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }

    def _answers(self) -> bool:
        try:
            self.query("SELECT 1")
        except MySQLdb.OperationalError:
            return False
        return True


@contextmanager
def private_mariadb(folder: Path, *, has_movable_clock: bool = False) -> Iterator[PrivateMariaDB]:
    """A running server of our own, killed at the end."""
    server = PrivateMariaDB(folder, has_movable_clock=has_movable_clock)
    try:
        server.start()
        yield server
    finally:
        server.stop()
