"""Private database servers for tests that stop them; the shared ones are never touched."""

import shutil
import socket
import subprocess
from pathlib import Path

import MySQLdb

from tests.waiting import wait_until


def free_port() -> int:
    """A loopback port that nobody uses right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class PrivateMariaDB:
    """A MariaDB of our own in a folder, which can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        subprocess.run(
            [
                "mariadb-install-db",
                "--no-defaults",
                f"--datadir={folder}",
                "--auth-root-authentication-method=normal",
                "--user=root",
            ],
            check=True,
            capture_output=True,
        )

    @staticmethod
    def is_available() -> bool:
        """Whether the machine has the server's programs."""
        return bool(shutil.which("mariadbd") and shutil.which("mariadb-install-db"))

    def url(self, database: str) -> str:
        """The address of a database on it, made when it is missing."""
        connection = MySQLdb.connect(host="127.0.0.1", port=self.port, user="root")
        connection.cursor().execute(f"CREATE DATABASE IF NOT EXISTS {database}")
        connection.close()
        return f"mysql://root@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Start and wait until it answers."""
        self._process = subprocess.Popen(
            [
                "mariadbd",
                "--no-defaults",
                f"--datadir={self.folder}",
                f"--port={self.port}",
                f"--socket={self.folder / 'socket'}",
                "--bind-address=127.0.0.1",
                "--user=root",
                "--innodb-buffer-pool-size=64M",
            ],
            stderr=subprocess.DEVNULL,
        )
        wait_until(self._answers, seconds=60)

    def kill(self) -> None:
        """SIGKILL: what a power cut would do."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        try:
            MySQLdb.connect(host="127.0.0.1", port=self.port, user="root").close()
        except MySQLdb.OperationalError:
            return False
        return True
