"""What an operator may do to jobs; each write names the state that it expects."""

from collections.abc import Iterable
from typing import Any

from pymongo.database import Database

from .inspection import JobRow, job_row, object_id
from .names import FAILED, JOBS, PENDING
from .store import in_ms

Jobs = Database[dict[str, Any]]


def retry(database: Jobs, job_ids: Iterable[str]) -> list[JobRow]:
    """Give failed jobs all their attempts again, due now; those that were failed."""
    update: list[dict[str, Any]] = [
        {"$set": {"status": PENDING, "attempts": 0, "nextRunAt": "$$NOW"}},
        {"$unset": ["failedAt"]},
    ]
    return _changed(database, job_ids, FAILED, update)


def run_now(database: Jobs, job_ids: Iterable[str]) -> list[JobRow]:
    """Make pending jobs due at once; those that were pending."""
    return _changed(database, job_ids, PENDING, [{"$set": {"nextRunAt": "$$NOW"}}])


def cancel(database: Jobs, job_ids: Iterable[str]) -> list[JobRow]:
    """Delete jobs that have not begun; those that were pending."""
    return _deleted(database, job_ids, PENDING)


def discard(database: Jobs, job_ids: Iterable[str]) -> list[JobRow]:
    """Delete failed jobs; those that were failed."""
    return _deleted(database, job_ids, FAILED)


def failed_ids(database: Jobs, *, model: str = "", older_than_days: float = 0) -> list[str]:
    """Failed jobs by id, of a model if one is named, that failed so long ago."""
    age = {"$lte": ["$failedAt", in_ms(-older_than_days * 86_400_000)]}
    wanted: dict[str, Any] = {"status": FAILED, "$expr": age} | ({"model": model} if model else {})
    return [str(job["_id"]) for job in database[JOBS].find(wanted, {"_id": 1}).sort("_id", 1)]


def _changed(
    database: Jobs, job_ids: Iterable[str], state: str, update: list[dict[str, Any]]
) -> list[JobRow]:
    found = (
        database[JOBS].find_one_and_update({"_id": object_id(job_id), "status": state}, update)
        for job_id in job_ids
    )
    return [job_row(job) for job in found if job is not None]


def _deleted(database: Jobs, job_ids: Iterable[str], state: str) -> list[JobRow]:
    found = (
        database[JOBS].find_one_and_delete({"_id": object_id(job_id), "status": state})
        for job_id in job_ids
    )
    return [job_row(job) for job in found if job is not None]
