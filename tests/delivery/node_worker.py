"""A worker as node apps run it: one lease, one lock, one delete for each job, written anew.

It has the faults of the original on purpose (no renewal, its own clock, one owner for all jobs):
it shows what sharing a database with such a worker means.
"""

import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from pymongo import ReturnDocument
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from apps.delivery.process_jobs import JOBS, LOCKS, backoff_ms, dedupe_key

LEASE = timedelta(seconds=60)
BUSY = timedelta(milliseconds=500)
MAX_ATTEMPTS = 5
_UNLEASE = {"leaseOwner": "", "leaseExpiresAt": ""}


class NodeWorker:
    """Enqueues and runs jobs of any model, one at a time."""

    def __init__(self, database: Database[Any], *, lease: timedelta = LEASE) -> None:
        self.jobs, self.locks = database[JOBS], database[LOCKS]
        self.owner = f"1:{uuid.uuid4()}"
        self.lease = lease

    def make_indexes(self) -> None:
        self.jobs.create_index([("status", 1), ("nextRunAt", 1)])
        self.jobs.create_index([("dedupeKey", 1), ("status", 1)])
        self.locks.create_index([("expiresAt", 1)])

    def enqueue(self, model: str, selectors: Any, context: Any = None) -> None:
        now = datetime.now(UTC)
        job = {"model": model, "selectors": selectors, "accessContext": context}
        job |= {"dedupeKey": dedupe_key(model, selectors, context), "status": "pending"}
        self.jobs.insert_one(job | {"attempts": 0, "nextRunAt": now, "createdAt": now})

    def process_one(self, run: Callable[[str, Any, Any], object]) -> bool:
        job = self._take()
        if job is None:
            return False
        if not self._lock(job["dedupeKey"]):
            later = {"status": "pending", "nextRunAt": datetime.now(UTC) + BUSY}
            update = {"$set": later, "$unset": _UNLEASE, "$inc": {"attempts": -1}}
            self.jobs.update_one(self._own(job), update)
            return True
        try:
            self._run(job, run)
        finally:
            self.locks.delete_one({"_id": job["dedupeKey"], "owner": self.owner})
        return True

    def _run(self, job: Any, run: Callable[[str, Any, Any], object]) -> None:
        equal = {"dedupeKey": job["dedupeKey"], "status": "pending", "_id": {"$ne": job["_id"]}}
        siblings = [row["_id"] for row in self.jobs.find(equal, {"_id": 1})]
        try:
            run(job["model"], job["selectors"], job["accessContext"])
        except Exception as error:  # noqa: BLE001 (a runner may raise anything)
            self._fail(job, error)
            return
        self.jobs.delete_one(self._own(job))
        if siblings:
            self.jobs.delete_many({"_id": {"$in": siblings}, "status": "pending"})

    def _fail(self, job: Any, error: Exception) -> None:
        now = datetime.now(UTC)
        outcome: dict[str, Any] = {"status": "failed", "failedAt": now}
        if job["attempts"] < MAX_ATTEMPTS:
            wait = timedelta(milliseconds=backoff_ms(job["attempts"]))
            outcome = {"status": "pending", "nextRunAt": now + wait}
        update = {"$set": outcome | {"lastError": str(error)}, "$unset": _UNLEASE}
        self.jobs.update_one(self._own(job), update)

    def _take(self) -> Any:
        now = datetime.now(UTC)
        due = {"status": "pending", "nextRunAt": {"$lte": now}}
        left = {"status": "processing", "leaseExpiresAt": {"$lte": now}}
        ours = {"status": "processing", "leaseOwner": self.owner}
        return self.jobs.find_one_and_update(
            {"$or": [due, left]},
            {"$set": ours | {"leaseExpiresAt": now + self.lease}, "$inc": {"attempts": 1}},
            sort=[("nextRunAt", 1), ("createdAt", 1)],
            return_document=ReturnDocument.AFTER,
        )

    def _lock(self, key: str) -> bool:
        until = datetime.now(UTC) + self.lease
        try:
            self.locks.insert_one({"_id": key, "owner": self.owner, "expiresAt": until})
        except DuplicateKeyError:
            expired = {"_id": key, "expiresAt": {"$lte": datetime.now(UTC)}}
            ours = {"$set": {"owner": self.owner, "expiresAt": until}}
            return self.locks.update_one(expired, ours).modified_count > 0
        return True

    def _own(self, job: Any) -> dict[str, Any]:
        return {"_id": job["_id"], "leaseOwner": self.owner}
