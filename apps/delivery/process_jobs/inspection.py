"""What waits, runs and failed, as people see it. Nothing here writes."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bson import ObjectId, json_util
from bson.errors import InvalidId
from pymongo.database import Database

from apps.delivery.central_texts import cleaned
from apps.delivery.errors import InvalidSelector, ProcessJobNotFound

from .keys import dedupe_key
from .names import FAILED, JOBS, PENDING, PROCESSING
from .store import due_condition

STATES = (PENDING, PROCESSING, FAILED)
_SHOWN_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class JobRow:
    """One job; the last error is redacted again, since node workers write theirs as it comes."""

    id: str
    model: str
    selectors: str
    target: str
    state: str
    attempts: int
    created_at: datetime | None
    due_at: datetime | None
    lease_until: datetime | None
    failed_at: datetime | None
    last_error: str

    def __str__(self) -> str:
        return f"{self.model} {self.selectors} ({self.state})"


@dataclass(frozen=True, slots=True)
class DepthRow:
    """How many jobs of a model are in a state."""

    model: str
    state: str
    count: int


class JobRows:
    """The jobs that fit a filter, oldest due first; read page by page."""

    def __init__(
        self, database: Database[dict[str, Any]], *, state: str = "", model: str = ""
    ) -> None:
        self._jobs = database[JOBS]
        wanted = {"status": state, "model": model}
        self._filter = {name: value for name, value in wanted.items() if value}

    def __len__(self) -> int:
        return self._jobs.count_documents(self._filter)

    def __getitem__(self, page: slice) -> list[JobRow]:
        start, stop = page.start or 0, page.stop
        found = self._jobs.find(self._filter).sort([("nextRunAt", 1), ("_id", 1)]).skip(start)
        return [job_row(job) for job in (found if stop is None else found.limit(stop - start))]


def job_named(database: Database[dict[str, Any]], job_id: str) -> JobRow:
    """One job. Raises ProcessJobNotFound."""
    job = database[JOBS].find_one({"_id": object_id(job_id)})
    if job is None:
        raise ProcessJobNotFound("There is no such job; perhaps it is done.")
    return job_row(job)


def object_id(job_id: str) -> ObjectId:
    """The id of a job from its text. Raises ProcessJobNotFound for what is none."""
    try:
        return ObjectId(job_id)
    except (InvalidId, TypeError) as error:
        raise ProcessJobNotFound("There is no such job.") from error


def depth(database: Database[dict[str, Any]]) -> list[DepthRow]:
    """Counts by model and state; an index alone answers."""
    by_model = {"_id": {"model": "$model", "state": "$status"}, "count": {"$sum": 1}}
    hint = {"status": 1, "model": 1, "nextRunAt": 1}
    groups = database[JOBS].aggregate([{"$sort": hint}, {"$group": by_model}], hint=hint)
    rows = (DepthRow(g["_id"]["model"], g["_id"]["state"], g["count"]) for g in groups)
    return sorted(rows, key=lambda row: (row.model, row.state))


def oldest_due_seconds(
    database: Database[dict[str, Any]], models: Collection[str] | None = None
) -> float:
    """How long the oldest due job has waited, by the server's clock; 0 when none is due."""
    waited = {"$divide": [{"$subtract": ["$$NOW", "$nextRunAt"]}, 1000]}
    steps: list[dict[str, Any]] = [{"$match": due_condition(models)}, {"$sort": {"nextRunAt": 1}}]
    found = list(
        database[JOBS].aggregate([*steps, {"$limit": 1}, {"$project": {"waited": waited}}])
    )
    return round(float(found[0]["waited"]), 1) if found else 0.0


def job_row(job: Mapping[str, Any]) -> JobRow:
    """A document as people see it, whoever wrote it."""
    return JobRow(
        id=str(job["_id"]),
        model=str(job.get("model", "")),
        selectors=_shown(job.get("selectors")),
        target=_target(job),
        state=str(job.get("status", "")),
        attempts=int(job.get("attempts", 0)),
        created_at=_time(job.get("createdAt")),
        due_at=_time(job.get("nextRunAt")),
        lease_until=_time(job.get("leaseExpiresAt")),
        failed_at=_time(job.get("failedAt")),
        last_error=cleaned(str(job.get("lastError", ""))),
    )


def iterate(rows: JobRows, *, page_size: int = 500) -> Iterator[JobRow]:
    """All rows, in pages."""
    for start in range(0, len(rows), page_size):
        yield from rows[start : start + page_size]


def _target(job: Mapping[str, Any]) -> str:
    try:
        return dedupe_key(str(job.get("model", "")), job.get("selectors"))
    except InvalidSelector:
        return ""  # a node worker stored what no key can tell


def _shown(selectors: Any) -> str:
    text = json.dumps(selectors, default=json_util.default, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 1]}…"


def _time(value: Any) -> datetime | None:
    if not isinstance(value, datetime):
        return None
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value
