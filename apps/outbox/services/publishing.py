"""Writing events in the transaction that makes them true.

One INSERT and nothing else: no look-ups, no task. On commit a wake-up goes out through Redis where
there is one; a lost one costs one poll.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from django.db import connection

from apps.common.dialects import DIALECTS
from apps.outbox import errors, waking
from apps.outbox.event_types import check_payload
from apps.outbox.events import (
    DEFAULT_MAX_ATTEMPTS,
    DEFAULT_PRIORITY,
    HELD_UNTIL,
    NewEvent,
    Trace,
    normalize_event,
)
from apps.outbox.services.holding import is_open
from apps.outbox.tracing import current_trace, with_trace

COLUMNS = (
    "event_type, aggregate_type, aggregate_id, payload, priority, idempotency_key, max_attempts, "
    "available_at"
)
INSERT_BATCH = 500
_MARKS = "(%s, %s, %s, %s, %s, %s, %s, %s)"
_MARKS_NOW = {
    vendor: f"(%s, %s, %s, %s, %s, %s, %s, {words.now})" for vendor, words in DIALECTS.items()
}
# Made once: json.dumps would make an encoder for every event.
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
# A key that is there already: the row stays as it is, and its id is the answer.
ON_KEY = {
    "mysql": " ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id)",
    "sqlite": " ON CONFLICT (idempotency_key) DO UPDATE SET priority = priority RETURNING id",
    "postgresql": " ON CONFLICT (idempotency_key) DO UPDATE"
    " SET priority = domain_event_outbox.priority RETURNING id",
}


def publish(
    event_type: str,
    aggregate_type: str,
    aggregate_id: str,
    payload: Mapping[str, Any] | None = None,
    *,
    priority: int = DEFAULT_PRIORITY,
    idempotency_key: str | None = None,
    available_at: datetime | None = None,
    max_attempts: int = DEFAULT_MAX_ATTEMPTS,
    outside_transaction: bool = False,
) -> int:
    """Write one event and return its id; a key that is there already gives that event's id.

    Order per aggregate holds only where the caller has locked the aggregate's row first. Raises
    IncompleteEvent for an empty name, InvalidPayload where a declared type's schema is broken,
    NoTransaction outside one unless the caller says so.
    """
    _require_transaction(outside_transaction=outside_transaction)
    event = _normalized(
        event_type,
        aggregate_type,
        aggregate_id,
        payload,
        priority=priority,
        idempotency_key=idempotency_key,
        available_at=available_at,
        max_attempts=max_attempts,
    )
    marks, values = _row(event, current_trace())
    insert = f"INSERT INTO domain_event_outbox ({COLUMNS}) VALUES {marks}"  # noqa: S608 (names are ours)
    with connection.cursor() as cursor:
        cursor.execute(insert + ON_KEY[connection.vendor], values)
        event_id = cursor.lastrowid if connection.vendor == "mysql" else cursor.fetchone()[0]
    waking.wake_on_commit()
    return int(event_id)


def publish_many(events: Iterable[NewEvent], *, outside_transaction: bool = False) -> int:
    """Write many normalised events without keys, in few statements; tells how many.

    Raises NoTransaction like `publish`; ValueError when one has an idempotency key, which needs an
    answer of its own.
    """
    _require_transaction(outside_transaction=outside_transaction)
    rows = list(events)
    if any(event.idempotency_key for event in rows):
        raise ValueError("publish_many() takes no idempotency keys; use publish().")
    with connection.cursor() as cursor:
        for start in range(0, len(rows), INSERT_BATCH):
            _insert(cursor, rows[start : start + INSERT_BATCH])
    waking.wake_on_commit()
    return len(rows)


def _insert(cursor: Any, events: list[NewEvent]) -> None:
    trace = current_trace()
    marks, parameters = [], []
    for event in events:
        row_marks, values = _row(event, trace)
        marks.append(row_marks)
        parameters += values
    sql = f"INSERT INTO domain_event_outbox ({COLUMNS}) VALUES {', '.join(marks)}"  # noqa: S608
    cursor.execute(sql, parameters)


def _require_transaction(*, outside_transaction: bool) -> None:
    if not connection.in_atomic_block and not outside_transaction:
        raise errors.NoTransaction


def _normalized(*names: Any, **options: Any) -> NewEvent:
    event = normalize_event(*names, **options)
    if event is None:
        raise errors.IncompleteEvent
    return event


def _row(event: NewEvent, trace: Trace) -> tuple[str, list[Any]]:
    """The placeholders and values of one row; without a due time the database's clock decides."""
    check_payload(event.event_type, event.payload)
    payload = with_trace(event.payload, trace)
    values: list[Any] = [
        event.event_type,
        event.aggregate_type,
        event.aggregate_id,
        _encode({} if payload is None else payload),
        event.priority,
        event.idempotency_key,
        event.max_attempts,
    ]
    is_held = not is_open(event.aggregate_type, event.aggregate_id)
    due = HELD_UNTIL if is_held else event.available_at
    if due is None:
        return _MARKS_NOW[connection.vendor], values
    return _MARKS, [*values, _column_time(due)]


def _column_time(when: datetime) -> str:
    """Whole seconds in UTC, as all three databases read them."""
    text = when.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
    return text if connection.vendor != "postgresql" else f"{text}+00"
