"""The queue's statements. The server's clock decides, and every write names its claim token."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from bson import ObjectId
from pymongo import ReturnDocument, UpdateOne
from pymongo.client_session import ClientSession
from pymongo.database import Database
from pymongo.errors import BulkWriteError

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
_DUE = {"$expr": {"$lte": ["$nextRunAt", "$$NOW"]}}
_EXPIRED = {"$expr": {"$lte": ["$leaseExpiresAt", "$$NOW"]}}
_UNLEASE: dict[str, Any] = {"$unset": ["leaseOwner", "leaseExpiresAt"]}


def in_ms(milliseconds: float) -> dict[str, Any]:
    """So long after the server's present time."""
    return {"$add": ["$$NOW", round(milliseconds)]}


class JobStore:
    """One database's jobs, locks and fences."""

    def __init__(self, database: Database[dict[str, Any]], *, lease_seconds: float) -> None:
        self._jobs = database[JOBS]
        self._locks = database[LOCKS]
        self._fences = database[FENCES]
        self._lease_ms = lease_seconds * 1000

    def ensure_indexes(self) -> None:
        """Make what is missing; outside of any transaction, where MongoDB would refuse it."""
        self._jobs.create_index([("status", 1), ("nextRunAt", 1)])
        self._jobs.create_index([("dedupeKey", 1), ("status", 1)])
        self._jobs.create_index([("status", 1), ("leaseExpiresAt", 1)])
        self._jobs.create_index([("leaseOwner", 1)], sparse=True)
        self._jobs.create_index(
            [("failedAt", 1)],
            expireAfterSeconds=FAILED_TTL_SECONDS,
            partialFilterExpression={"status": FAILED},
        )
        self._locks.create_index([("expiresAt", 1)])

    def insert(self, job: Mapping[str, Any], *, session: ClientSession | None) -> None:
        """A pending job, due now. An upsert, because an insert cannot use the server's clock."""
        fields: dict[str, Any] = {name: {"$literal": value} for name, value in job.items()}
        fields |= {"status": PENDING, "attempts": {"$literal": 0}}
        fields |= {"nextRunAt": "$$NOW", "createdAt": "$$NOW"}
        self._jobs.update_one({"_id": ObjectId()}, [{"$set": fields}], upsert=True, session=session)

    def bury_exhausted(self) -> int:
        """Give up jobs whose workers died once too often; how many."""
        condition = {"status": PROCESSING, "attempts": {"$gte": MAX_ATTEMPTS}, **_EXPIRED}
        dead = {"status": FAILED, "failedAt": "$$NOW", "lastError": "worker lost"}
        update = [{"$set": dead}, _UNLEASE]
        return self._jobs.update_many(condition, update).modified_count

    def claim_abandoned(self, token: str, models: Collection[str] | None) -> list[dict[str, Any]]:
        """One job whose worker vanished: alone, so that a killer takes no neighbours along."""
        condition = {"status": PROCESSING, "attempts": {"$lt": MAX_ATTEMPTS}, **_EXPIRED}
        job = self._jobs.find_one_and_update(
            condition | _of(models),
            self._claimed(token),
            sort=[("leaseExpiresAt", 1)],
            return_document=ReturnDocument.AFTER,
        )
        return [job] if job else []

    def claim_due(
        self, token: str, models: Collection[str] | None, limit: int
    ) -> list[dict[str, Any]]:
        """Up to `limit` due jobs, oldest first."""
        condition = {"status": PENDING, **_DUE, **_of(models)}
        oldest = self._jobs.find(condition, {"_id": 1}).sort("nextRunAt", 1).limit(limit)
        chosen = [row["_id"] for row in oldest]
        if not chosen:
            return []
        self._jobs.update_many({"_id": {"$in": chosen}, "status": PENDING}, self._claimed(token))
        return list(self._jobs.find({"leaseOwner": token}).sort("nextRunAt", 1))

    def claim_equals(self, token: str, keys: Collection[str]) -> None:
        """Take the pending jobs with these keys as well: the run about to start covers them.

        Claimed and not merely listed, so that even their deletion is bound to the token.
        """
        condition = {"dedupeKey": {"$in": list(keys)}, "status": PENDING}
        self._jobs.update_many(condition, self._claimed(token))

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
        alive = {"$expr": {"$gt": ["$expiresAt", "$$NOW"]}}
        until = in_ms(self._lease_ms)
        held = self._locks.update_many({"owner": token, **alive}, [{"$set": {"expiresAt": until}}])
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

    def retry_or_bury(self, token: str, key: str, *, delay_ms: float, error: str) -> None:
        """Put a failed run's jobs off, or give up those whose attempts are used up."""
        is_dead = {"$gte": ["$attempts", MAX_ATTEMPTS]}
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
