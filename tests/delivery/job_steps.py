"""Runs, and what happens to jobs meanwhile, for the tests of the process-job queue."""

from typing import Any

from pymongo.database import Database

from apps.delivery.process_jobs import JOBS, LOCKS

ANA, RUI = {"userId": "ana"}, {"userId": "rui"}


def nothing(model: str, selectors: Any, context: Any) -> None:
    """A run that succeeds."""


def failing(model: str, selectors: Any, context: Any) -> None:
    raise ValueError("cannot reach mongodb://app:hunter2@db/orders")


def killer(model: str, selectors: Any, context: Any) -> None:
    raise SystemExit(137)


def make_due(database: Database[Any]) -> None:
    database[JOBS].update_many({}, [{"$set": {"nextRunAt": "$$NOW"}}])


def expire(database: Database[Any]) -> None:
    """As if the worker had vanished a lease ago."""
    past = {"$subtract": ["$$NOW", 1]}
    database[JOBS].update_many({"status": "processing"}, [{"$set": {"leaseExpiresAt": past}}])
    database[LOCKS].update_many({}, [{"$set": {"expiresAt": past}}])
