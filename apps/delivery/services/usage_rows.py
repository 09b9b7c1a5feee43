"""Rows of usage events, written in few statements; the ORM would take half of an intake's time."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from django.db import connection

INSERT_BATCH = 500


class EventRow(NamedTuple):
    """One row of `delivery_usage_event`; the fields are its columns."""

    metric_id: int
    event_id: str
    digest: str
    quantity: int
    subject: str
    period: date
    day: date
    occurred_at: datetime
    received_at: datetime


_COLUMNS = ", ".join(EventRow._fields)
_MARKS = "(" + ", ".join(["%s"] * len(EventRow._fields)) + ")"


def insert_events(rows: Sequence[EventRow]) -> None:
    """Write rows in batches; raises IntegrityError when an id of a metric is there already."""
    with connection.cursor() as cursor:
        for start in range(0, len(rows), INSERT_BATCH):
            part = rows[start : start + INSERT_BATCH]
            marks = ", ".join([_MARKS] * len(part))
            sql = f"INSERT INTO delivery_usage_event ({_COLUMNS}) VALUES {marks}"  # noqa: S608 (names are ours)
            cursor.execute(sql, [value for row in part for value in _adapted(row)])


def _adapted(row: EventRow) -> tuple[Any, ...]:
    """Days and times as the database's driver takes them."""
    ops = connection.ops
    return (
        *row[:5],
        ops.adapt_datefield_value(row.period),
        ops.adapt_datefield_value(row.day),
        ops.adapt_datetimefield_value(row.occurred_at),
        ops.adapt_datetimefield_value(row.received_at),
    )
