"""The database server stops in the middle of the work and comes back: workers wait and go on.

A private MariaDB in a temporary folder is restarted, never the one that others use.
"""

import getpass
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import MySQLdb
import pytest

from tests.processes import running
from tests.waiting import wait_until

EVENTS = int(os.environ.get("CHAOS_RESTART_EVENTS", "1000"))
DATABASE = "pombo_restart"
USER = getpass.getuser()

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.skipif(shutil.which("mariadbd") is None, reason="needs mariadbd to be installed"),
]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class PrivateServer:
    """A MariaDB of our own, which can be stopped and started again."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.process: subprocess.Popen[bytes] | None = None
        # The installer takes the user of the folder's owner; as root that has to be said.
        command = ["mariadb-install-db", "--no-defaults", f"--datadir={folder}", f"--user={USER}"]
        subprocess.run([*command, "--skip-test-db"], check=True, capture_output=True)

    def start(self) -> None:
        """Start it and wait until it answers."""
        self.process = subprocess.Popen(
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
            ],
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        wait_until(self.answers, seconds=60)

    def stop(self, sign: int) -> None:
        """End it: SIGKILL like a power cut, SIGTERM like a restart."""
        if self.process is not None:
            self.process.send_signal(sign)
            self.process.wait(60)

    def answers(self) -> bool:
        """Whether it takes connections."""
        try:
            self.query("SELECT 1")
        except MySQLdb.OperationalError:
            return False
        return True

    def query(self, sql: str, database: str = "") -> list[tuple[object, ...]]:
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


@contextmanager
def private_server(folder: Path) -> Iterator[PrivateServer]:
    server = PrivateServer(folder)
    try:
        server.start()
        yield server
    finally:
        server.stop(signal.SIGKILL)


def counted(server: PrivateServer, table: str, condition: str) -> Callable[[], int]:
    """A count that is asked anew each time."""
    statement = f"SELECT COUNT(*) FROM {table} WHERE {condition}"
    return lambda: int(str(server.query(statement, DATABASE)[0][0]))


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGKILL], ids=["restart", "power cut"])
def test_workers_outlive_a_restart_of_the_database(tmp_path: Path, sign: int) -> None:
    with private_server(tmp_path) as server:
        server.query(f"CREATE DATABASE {DATABASE}")
        address = f"mysql://root@127.0.0.1:{server.port}/{DATABASE}"
        migrate = ("-m", "django", "migrate", "--verbosity=0")
        settings = {"DATABASE_URL": address, "DJANGO_SETTINGS_MODULE": "tests.settings"}
        with running(*migrate, **settings) as migrating:
            assert migrating.wait(120) == 0
        server.query(
            "INSERT INTO domain_event_outbox (event_type, aggregate_type, aggregate_id, payload)"
            f" SELECT 'COUNTED', 't', seq, '{{}}' FROM seq_1_to_{EVENTS}",
            DATABASE,
        )
        completed = counted(server, "domain_event_outbox", "status = 'completed'")
        worker = ("-m", "tests.chaos.drainer")
        with running(*worker, **settings) as first, running(*worker, **settings) as second:
            wait_until(lambda: completed() > EVENTS // 10, seconds=60)
            server.stop(sign)
            server.start()
            wait_until(lambda: completed() == EVENTS, seconds=60 + EVENTS / 50)
            assert (first.poll(), second.poll()) == (None, None)
        assert counted(server, "feature_flag", "flag_name LIKE 'effect-%'")() == EVENTS
        assert counted(server, "domain_event_outbox_dlq", "1 = 1")() == 0
