"""The few words in which databases differ, for the raw SQL of the leased queue.

One small strategy per database; everything else of the queue is the same code. All times come from
the database's clock, in whole seconds and UTC.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from django.db import InterfaceError, OperationalError, connection

T = TypeVar("T")

# Deadlock found; lock wait timed out: InnoDB has rolled the transaction back, so it may run again.
RETRYABLE_MYSQL_ERRORS = (1213, 1205)
# Serialization failure; deadlock detected.
RETRYABLE_POSTGRESQL_STATES = ("40001", "40P01")
RETRY_ATTEMPTS = 5
RETRY_PAUSE_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one database says now, later, how long ago, the greater of two, and skips locked rows.

    `later` and `earlier` hold one parameter, a number of seconds; `age` holds `{column}`.
    """

    now: str
    later: str
    earlier: str
    age: str
    greatest: str
    skip_locked: str


DIALECTS = {
    "mysql": Dialect(
        now="CURRENT_TIMESTAMP",
        later="CURRENT_TIMESTAMP + INTERVAL %s SECOND",
        earlier="CURRENT_TIMESTAMP - INTERVAL %s SECOND",
        age="TIMESTAMPDIFF(SECOND, {column}, CURRENT_TIMESTAMP)",
        greatest="GREATEST",
        skip_locked="FOR UPDATE SKIP LOCKED",
    ),
    "postgresql": Dialect(
        # Stable within a statement, so that the planner may use it as the end of an index range.
        now="date_trunc('second', statement_timestamp())",
        later="date_trunc('second', statement_timestamp()) + make_interval(secs => %s)",
        earlier="date_trunc('second', statement_timestamp()) - make_interval(secs => %s)",
        age="EXTRACT(EPOCH FROM statement_timestamp() - {column})",
        greatest="GREATEST",
        skip_locked="FOR UPDATE SKIP LOCKED",
    ),
    # SQLite has one writer: its immediate transaction is the lock.
    "sqlite": Dialect(
        now="datetime('now')",
        later="datetime('now', '+' || %s || ' seconds')",
        earlier="datetime('now', '-' || %s || ' seconds')",
        age="strftime('%%s', 'now') - strftime('%%s', {column})",
        greatest="MAX",
        skip_locked="",
    ),
}


def dialect() -> Dialect:
    """The dialect of the default database."""
    return DIALECTS[connection.vendor]


def execute(sql: str, parameters: list[Any]) -> int:
    """Run a statement and tell how many rows it matched."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return int(cursor.rowcount)


def fetch(sql: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
    """Run a query and return its rows as they come from the driver."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return list(cursor.fetchall())


def retry_deadlocks(work: Callable[[], T]) -> T:
    """Run a whole transaction again when the database has rolled it back; at most five times."""
    for attempt in range(1, RETRY_ATTEMPTS):
        try:
            return work()
        except OperationalError as error:
            if connection.in_atomic_block or not _is_rolled_back(error):
                raise
            time.sleep(RETRY_PAUSE_SECONDS * attempt)
    return work()


def is_connection_lost(error: Exception) -> bool:
    """Whether the error comes of a database that is away, so that nothing can be written now.

    Errors of the driver count too: Django closes cursors outside its own translation of errors.
    """
    driver = connection.Database  # type: ignore[attr-defined]
    kinds = (InterfaceError, OperationalError, driver.InterfaceError, driver.OperationalError)
    if not isinstance(error, kinds):
        return False
    return connection.connection is None or not connection.is_usable()


def _is_rolled_back(error: OperationalError) -> bool:
    state = getattr(error.__cause__, "sqlstate", None)
    number = error.args[0] if error.args else None
    return number in RETRYABLE_MYSQL_ERRORS or state in RETRYABLE_POSTGRESQL_STATES


def as_datetime(value: Any) -> datetime:
    """A time as the driver gives it: aware, naive (MySQL) or text (SQLite)."""
    moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def as_json(value: Any) -> Any:
    """A JSON column as the driver gives it: text, or already parsed (PostgreSQL)."""
    return json.loads(value) if isinstance(value, str | bytes) else value
