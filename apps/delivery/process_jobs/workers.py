"""The list of workers: each has a line there that it renews while it lives."""

import os
import secrets
import socket
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from pymongo.database import Database
from pymongo.errors import DuplicateKeyError, PyMongoError

from .names import HEARTBEAT_SECONDS, WORKER_GONE_SECONDS, WORKERS
from .store import in_ms

_FORGET_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A worker as people see it; one that is silent has missed several heartbeats."""

    name: str
    host: str
    pid: int
    models: list[str]
    started_at: datetime
    seen_at: datetime
    silent_seconds: float

    @property
    def is_alive(self) -> bool:
        """Whether it gave a sign of life lately."""
        return self.silent_seconds < WORKER_GONE_SECONDS


def worker_rows(database: Database[dict[str, Any]]) -> list[WorkerRow]:
    """All workers that were seen within the hour, by name."""
    silence = {"$divide": [{"$subtract": ["$$NOW", "$seenAt"]}, 1000]}
    rows = database[WORKERS].aggregate([{"$sort": {"_id": 1}}, {"$set": {"silent": silence}}])
    return [
        WorkerRow(
            name=row["_id"],
            host=row["host"],
            pid=row["pid"],
            models=row["models"],
            started_at=row["startedAt"],
            seen_at=row["seenAt"],
            silent_seconds=row["silent"],
        )
        for row in rows
    ]


def own_name() -> str:
    """A name that no other worker has."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"


class SignOfLife:
    """The line of one worker, for as long as the block lasts.

    A name is held by one worker at a time, so it can serve as a slot: `is_ours` tells.
    """

    def __init__(
        self, database: Database[dict[str, Any]], name: str, models: Callable[[], Collection[str]]
    ) -> None:
        self._workers = database[WORKERS]
        self._name = name
        self._models = models
        self._holder = secrets.token_hex(16)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="process-job-sign", daemon=True)
        self.is_ours = False

    def __enter__(self) -> Self:
        self._workers.create_index([("seenAt", 1)], expireAfterSeconds=_FORGET_SECONDS)
        self.is_ours = self._beat()
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()
        if self.is_ours:
            self._workers.delete_one({"_id": self._name, "holder": self._holder})

    def _keep(self) -> None:
        while self.is_ours and not self._over.wait(HEARTBEAT_SECONDS):
            try:
                self.is_ours = self._beat()
            except PyMongoError:
                continue  # the worker itself reports that the server is away

    def _beat(self) -> bool:
        """Take or renew the line; False when another holder keeps it."""
        gone = {"$lte": ["$seenAt", in_ms(-WORKER_GONE_SECONDS * 1000)]}
        is_free = {"$or": [{"$eq": ["$holder", self._holder]}, gone]}
        ours = {
            "holder": self._holder,
            "host": {"$literal": socket.gethostname()},
            "pid": os.getpid(),
            "models": {"$literal": sorted(self._models())},
            "seenAt": "$$NOW",
        }
        fields: dict[str, Any] = {
            name: {"$cond": [is_free, value, f"${name}"]} for name, value in ours.items()
        }
        is_new = {"$or": [{"$ne": ["$holder", self._holder]}, {"$not": ["$startedAt"]}]}
        started = {"$cond": [{"$and": [is_free, is_new]}, "$$NOW", "$startedAt"]}
        update = [{"$set": fields | {"startedAt": started}}]
        try:
            self._workers.update_one({"_id": self._name}, update, upsert=True)
        except DuplicateKeyError:
            return False  # another worker took the name just now
        return self._workers.find_one({"_id": self._name, "holder": self._holder}) is not None
