"""The queue's statements. The server's clock decides, and every write names its claim token."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from bson import ObjectId
from pymongo import UpdateOne
from pymongo.client_session import ClientSession
from pymongo.database import Database
from pymongo.errors import BulkWriteError, OperationFailure

from apps.delivery.errors import ProcessJobIndexConflict

from .names import (
    FAILED,
    FAILED_TTL_SECONDS,
    FENCES,
    JOBS,
    LOCKS,
    MAX_ATTEMPTS,
    PENDING,
    PROCESSING,
)

_DUPLICATE_KEY = 11000
_INDEX_CONFLICTS = (85, 86)  # the same keys or name with other options
_DUE = {"$expr": {"$lte": ["$nextRunAt", "$$NOW"]}}
_EXPIRED = {"$expr": {"$lte": ["$leaseExpiresAt", "$$NOW"]}}
_ALIVE = {"$expr": {"$gt": ["$expiresAt", "$$NOW"]}}
_UNLEASE: dict[str, Any] = {"$unset": ["leaseOwner", "leaseExpiresAt"]}


# The first two and that of the locks are those of node apps, to the letter; the others are ours.
_INDEXES: dict[str, list[dict[str, Any]]] = {
    JOBS: [
        {"keys": [("status", 1), ("nextRunAt", 1)]},
        {"keys": [("dedupeKey", 1), ("status", 1)]},
        # Jobs of models that this worker cannot run cost its claims nothing.
        {"keys": [("status", 1), ("model", 1), ("nextRunAt", 1)]},
        {"keys": [("status", 1), ("leaseExpiresAt", 1)]},
        {"keys": [("leaseOwner", 1)], "sparse": True},
        {
            "keys": [("failedAt", 1)],
            "expireAfterSeconds": FAILED_TTL_SECONDS,
            "partialFilterExpression": {"status": FAILED},
        },
    ],
    LOCKS: [{"keys": [("expiresAt", 1)]}],
}


def in_ms(milliseconds: float) -> dict[str, Any]:
    """So long after the server's present time."""
    return {"$add": ["$$NOW", round(milliseconds)]}


def due_condition(models: Collection[str] | None) -> dict[str, Any]:
    """What a claim looks for, of these models or of all."""
    return {"status": PENDING, **_DUE, **_of(models)}


class JobStore:
    """One database's jobs, locks and fences."""

    def __init__(self, database: Database[dict[str, Any]], *, lease_seconds: float) -> None:
        self._jobs = database[JOBS]
        self._locks = database[LOCKS]
        self._fences = database[FENCES]
        self._lease_ms = lease_seconds * 1000

    def ensure_indexes(self) -> None:
        """Make what is missing; outside of any transaction, where MongoDB would refuse it.

        Raises ProcessJobIndexConflict where one exists with other options: a time to live on the
        wrong field would delete jobs that wait.
        """
        for collection in (self._jobs, self._locks):
            for spec in _INDEXES[collection.name]:
                options = dict(spec)
                try:
                    collection.create_index(options.pop("keys"), **options)
                except OperationFailure as failure:
                    if failure.code in _INDEX_CONFLICTS:
                        raise ProcessJobIndexConflict(collection.name, spec["keys"]) from failure
                    raise

    def insert(self, job: Mapping[str, Any], *, session: ClientSession | None) -> None:
        """A pending job, due now. An upsert, because an insert cannot use the server's clock."""
        fields: dict[str, Any] = {name: {"$literal": value} for name, value in job.items()}
        fields |= {"status": PENDING, "attempts": {"$literal": 0}}
        fields |= {"nextRunAt": "$$NOW", "createdAt": "$$NOW"}
        self._jobs.update_one({"_id": ObjectId()}, [{"$set": fields}], upsert=True, session=session)

    def claim_abandoned(self, token: str, models: Collection[str] | None) -> list[dict[str, Any]]:
        """One job whose worker vanished: alone, so that a killer takes no neighbours along.

        Jobs that used up their attempts are given up on the way. A worker that still holds a lock
        is alive, whatever the lease of its job says.
        """
        condition = {"status": PROCESSING, **_EXPIRED, **_of(models)}
        if self._jobs.find_one(condition, {"_id": 1}) is None:
            return []
        living = [lock["owner"] for lock in self._locks.find(_ALIVE, {"owner": 1})]
        condition["leaseOwner"] = {"$nin": living}
        dead = {"status": FAILED, "failedAt": "$$NOW", "lastError": "worker lost"}
        exhausted = condition | {"attempts": {"$gte": MAX_ATTEMPTS}}
        self._jobs.update_many(exhausted, [{"$set": dead}, _UNLEASE])
        job = self._jobs.find_one_and_update(
            condition, self._claimed(token), sort=[("leaseExpiresAt", 1)]
        )
        return self._with_equals(token, [job["dedupeKey"]]) if job else []

    def claim_due(
        self, token: str, models: Collection[str] | None, limit: int
    ) -> list[dict[str, Any]]:
        """Up to `limit` due jobs, oldest first, and all that equal them."""
        condition = due_condition(models)
        found = self._jobs.find(condition, {"dedupeKey": 1}).sort("nextRunAt", 1).limit(limit)
        chosen = {row["_id"]: row["dedupeKey"] for row in found}
        if not chosen:
            return []
        pending = {"_id": {"$in": list(chosen)}, "status": PENDING}
        self._jobs.update_many(pending, self._claimed(token))
        return self._with_equals(token, set(chosen.values()))

    def _with_equals(self, token: str, keys: Collection[str]) -> list[dict[str, Any]]:
        """What the token holds, once it has the pending jobs with these keys as well.

        The run about to start covers them. Claimed and not merely listed, so that even their
        deletion is bound to the token.
        """
        condition = {"dedupeKey": {"$in": list(keys)}, "status": PENDING}
        self._jobs.update_many(condition, self._claimed(token))
        return list(self._jobs.find({"leaseOwner": token}).sort("nextRunAt", 1))

    def has_due(self, models: Collection[str] | None) -> bool:
        """Whether a claim would find something pending."""
        return self._jobs.find_one(due_condition(models), {"_id": 1}) is not None

    def lock(self, token: str, keys: Iterable[str]) -> set[str]:
        """Take what is free or expired, in order; the keys that are ours now."""
        wanted = sorted(set(keys))
        # Missing sorts before every time, so a new lock counts as free. One upsert that decides
        # for itself, because MongoDB allows no $expr in the condition of an upsert.
        is_free = {"$lte": ["$expiresAt", "$$NOW"]}
        fields = {
            "owner": {"$cond": [is_free, token, "$owner"]},
            "expiresAt": {"$cond": [is_free, in_ms(self._lease_ms), "$expiresAt"]},
        }
        writes = [UpdateOne({"_id": key}, [{"$set": fields}], upsert=True) for key in wanted]
        try:
            self._locks.bulk_write(writes, ordered=False)
        except BulkWriteError as refused:
            errors = refused.details["writeErrors"]
            if any(error["code"] != _DUPLICATE_KEY for error in errors):
                raise  # a duplicate means that another worker made the same lock just now
        return {row["_id"] for row in self._locks.find({"_id": {"$in": wanted}, "owner": token})}

    def next_fences(self, token: str, targets: Collection[str]) -> dict[str, int]:
        """A number per target, larger than any before; a target taken away meanwhile has none."""
        update = {"$inc": {"fence": 1}, "$set": {"owner": token}}
        writes = [UpdateOne({"_id": target}, update, upsert=True) for target in sorted(targets)]
        if writes:
            self._fences.bulk_write(writes, ordered=False)
        ours = self._fences.find({"_id": {"$in": list(targets)}, "owner": token})
        return {row["_id"]: row["fence"] for row in ours}

    def renew(self, token: str, lock_count: int) -> bool:
        """Whether all locks are still ours; if so they and the jobs live a lease longer."""
        until = in_ms(self._lease_ms)
        held = self._locks.update_many({"owner": token, **_ALIVE}, [{"$set": {"expiresAt": until}}])
        self._jobs.update_many({"leaseOwner": token}, [{"$set": {"leaseExpiresAt": until}}])
        return held.matched_count >= lock_count

    def unlock(self, token: str, keys: Collection[str] | None = None) -> None:
        """Free these keys, or all that the token holds."""
        some = {} if keys is None else {"_id": {"$in": list(keys)}}
        self._locks.delete_many({"owner": token} | some)

    def complete(self, token: str, keys: Collection[str]) -> int:
        """Delete the finished jobs that are still ours; how many."""
        finished = {"leaseOwner": token, "dedupeKey": {"$in": list(keys)}}
        return self._jobs.delete_many(finished).deleted_count

    def retry_or_bury(
        self, token: str, key: str, *, delay_ms: float, error: str, is_final: bool = False
    ) -> None:
        """Put a failed run's jobs off, or give up those whose attempts are used up."""
        is_dead = {"$gte": ["$attempts", 0 if is_final else MAX_ATTEMPTS]}
        outcome = {
            "status": {"$cond": [is_dead, FAILED, PENDING]},
            "failedAt": {"$cond": [is_dead, "$$NOW", "$$REMOVE"]},
            "nextRunAt": in_ms(delay_ms),
            "lastError": {"$literal": error},
        }
        update = [{"$set": outcome}, _UNLEASE]
        self._jobs.update_many({"leaseOwner": token, "dedupeKey": key}, update)

    def hand_back(self, token: str, keys: Collection[str], *, delay_ms: float = 0) -> None:
        """Return jobs that never started; they keep their attempts."""
        fields = {
            "status": PENDING,
            "nextRunAt": in_ms(delay_ms),
            "attempts": {"$max": [0, {"$subtract": ["$attempts", 1]}]},
        }
        update = [{"$set": fields}, _UNLEASE]
        self._jobs.update_many({"leaseOwner": token, "dedupeKey": {"$in": list(keys)}}, update)

    def _claimed(self, token: str) -> list[dict[str, Any]]:
        """Attempts count here, so that a job that kills its worker ends too."""
        fields = {
            "status": PROCESSING,
            "leaseOwner": token,
            "leaseExpiresAt": in_ms(self._lease_ms),
            "attempts": {"$add": ["$attempts", 1]},
        }
        return [{"$set": fields}]


def _of(models: Collection[str] | None) -> dict[str, Any]:
    return {} if models is None else {"model": {"$in": sorted(models)}}
