"""A queue in a table, worked by many processes: claimed in batches, under leases, with fencing.

Serves the outbox, the worker tasks and the reprocess queue, whose tables share their columns. The
rules are in docs/leases.md; in short:

- A claim takes due rows of one priority, the most urgent first, where waiting makes urgent. It
  writes a fresh fencing token, and every later write needs that token.
- Attempts count rows that started: the claim charges them, `release` gives unstarted rows back
  uncharged.
- A row whose lease was lost is claimed alone, so that a row that kills its process takes nobody
  with it; with its attempts used up it goes to the dead letters as `worker lost`.
- A row on its last attempt is claimed alone as well: a neighbour that killed their process would
  otherwise use up that attempt before the row has started.
- The database's clock decides.
"""

import logging
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from django.db import DatabaseError, connection, models, transaction

from apps.common.choices import LeaseStatus
from apps.common.dialects import dialect, execute, fetch, retry_deadlocks

logger = logging.getLogger(__name__)

# A row gains one priority point for each half minute that it waits, so that nothing starves.
AGEING_SECONDS_PER_POINT = 30
MAX_ERROR_LENGTH = 255
WORKER_LOST = "worker lost"
# Whole seconds: a lease taken at the end of a second must not end a second early.
LEASE_ROUNDING_SECONDS = 1
HEARTBEAT_RETRY_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Row:
    """One claimed row: its id, how often it has started, and the columns asked for."""

    id: int
    attempts: int
    max_attempts: int
    values: tuple[Any, ...]

    @property
    def is_last_attempt(self) -> bool:
        """Whether another failure makes it a dead letter."""
        return self.attempts >= self.max_attempts


@dataclass(frozen=True, slots=True)
class Claim:
    """Rows taken under one fencing token; `is_reclaimed` when a lost worker held them before."""

    token: str
    rows: tuple[Row, ...]
    is_reclaimed: bool = False


@dataclass(frozen=True, slots=True)
class LeasedQueue:
    """The queue in one table.

    `due` is the column that says when a row may start; `columns` are handed to the worker with each
    row; `group` names a column that separates independent queues in one table (task types).
    `dead_letter` is the table of copies and `copied` its columns, as `{column: source column}`; the
    first is its unique reference to the row.
    """

    model: type[models.Model]
    due: str
    columns: tuple[str, ...]
    group: str | None = None
    dead_letter: type[models.Model] | None = None
    copied: Mapping[str, str] | None = None

    @property
    def table(self) -> str:
        """The quoted name of the table."""
        return connection.ops.quote_name(self.model._meta.db_table)

    # -- taking work

    def claim(self, limit: int, *, lease_seconds: int, group: str | None = None) -> Claim | None:
        """Take one row of a lost lease alone, or else up to `limit` due rows of one priority.

        None when there is nothing due.
        """
        where, parameters = self._filter(group)
        return retry_deadlocks(
            lambda: (
                self._claim_lost(lease_seconds, where, parameters)
                or self._claim_due(limit, where, parameters)
            )
        )

    def seconds_until_due(self, *, group: str | None = None) -> float | None:
        """How long until the next pending row may start; 0 when one already may, None without."""
        where, parameters = self._filter(group)
        waits = [
            -float(age)
            for priority in self._priorities(where, parameters)
            if (age := self._age_of_oldest(priority, where, parameters)) is not None
        ]
        return max(0.0, min(waits)) if waits else None

    def _claim_due(self, limit: int, where: str, parameters: list[Any]) -> Claim | None:
        for priority in self._by_urgency(where, parameters):
            rows = self._take(
                f"status = 'pending' AND priority = %s AND {self.due} <= {dialect().now}{where}",
                [priority, *parameters],
                limit=limit,
                order=self.due,
            )
            if rows:
                return rows
        return None

    def _claim_lost(self, lease_seconds: int, where: str, parameters: list[Any]) -> Claim | None:
        # A lease that began later than now was taken before the clock was set back: its holder, if
        # it lives, has renewed it by the right time within a third of its length.
        bound = lease_seconds + LEASE_ROUNDING_SECONDS
        is_over = f"(locked_at < {dialect().earlier} OR locked_at > {dialect().later})"
        lost = (f"status = 'processing' AND {is_over}{where}", [bound, bound, *parameters])
        # A look without locks first: most claims find no lost lease.
        found = f"SELECT 1 FROM {self.table} WHERE {lost[0]} LIMIT 1"  # noqa: S608 (names are ours)
        while fetch(found, lost[1]):
            claim = self._take(*lost, limit=1, order="locked_at")
            if claim is None:
                return None
            (row,) = claim.rows
            if row.attempts <= row.max_attempts:
                return replace(claim, is_reclaimed=True)
            self.bury([row], token=claim.token, error=WORKER_LOST)
        return None

    def _take(
        self, condition: str, parameters: list[Any], *, limit: int, order: str
    ) -> Claim | None:
        """Lock the rows in index order, mark them ours, and charge the attempt."""
        sql = dialect()
        token = str(uuid.uuid4())
        names = ", ".join(["id", "attempts", "max_attempts", *self.columns])
        with transaction.atomic():
            found = fetch(
                f"SELECT {names} FROM {self.table} WHERE {condition}"  # noqa: S608
                f" ORDER BY {order}, id LIMIT {limit} {sql.skip_locked}",
                parameters,
            )
            if not found:
                return None
            found = _before_last_attempts(found)
            execute(
                f"UPDATE {self.table} SET status = 'processing', worker_token = %s,"  # noqa: S608
                f" locked_at = {sql.now}, updated_at = {sql.now},"
                " attempts = CASE WHEN attempts < 255 THEN attempts + 1 ELSE attempts END"
                f" WHERE id IN ({_marks(found)})",
                [token, *(row[0] for row in found)],
            )
        return Claim(token, tuple(Row(row[0], row[1] + 1, row[2], row[3:]) for row in found))

    def _by_urgency(self, where: str, parameters: list[Any]) -> list[int]:
        """The priorities that have due rows, highest first after adding the age of the oldest."""
        urgencies = []
        for priority in self._priorities(where, parameters):
            age = self._age_of_oldest(priority, where, parameters)
            if age is not None and age >= 0:
                urgencies.append((priority + age // AGEING_SECONDS_PER_POINT, priority))
        return [priority for _urgency, priority in sorted(urgencies, reverse=True)]

    def _priorities(self, where: str, parameters: list[Any]) -> Iterator[int]:
        """The priorities present among pending rows, one index seek each."""
        query = f"SELECT priority FROM {self.table} WHERE status = 'pending'{where}"  # noqa: S608
        order = " ORDER BY priority DESC LIMIT 1"
        found = fetch(query + order, parameters)
        while found:
            yield found[0][0]
            found = fetch(f"{query} AND priority < %s{order}", [*parameters, found[0][0]])

    def _age_of_oldest(self, priority: int, where: str, parameters: list[Any]) -> float | None:
        age = dialect().age.format(column=self.due)
        found = fetch(
            f"SELECT {age} FROM {self.table} WHERE status = 'pending'"  # noqa: S608
            f" AND priority = %s{where} ORDER BY {self.due} LIMIT 1",
            [priority, *parameters],
        )
        return float(found[0][0]) if found else None

    def _filter(self, group: str | None) -> tuple[str, list[Any]]:
        return ("", []) if group is None else (f" AND {self.group} = %s", [group])

    # -- ending work: each needs the claim's token and tells how many rows it changed

    def complete(self, ids: Sequence[int], *, token: str) -> int:
        """Mark rows done. Fewer than given means that the lease was lost."""
        now = dialect().now
        return self._end(
            f"status = 'completed', processed_at = {now}, last_error = NULL", ids, token
        )

    def release(self, ids: Sequence[int], *, token: str, delay_seconds: int = 0) -> int:
        """Give rows back that did not start: uncharged, due again after the delay."""
        sql = dialect()
        changes = f"status = 'pending', attempts = {sql.greatest}(attempts, 1) - 1, " + (
            f"{self.due} = {sql.later}" if delay_seconds else f"{self.due} = {self.due}"
        )
        return self._end(changes, ids, token, [delay_seconds] if delay_seconds else [])

    def retry(self, ids: Sequence[int], *, token: str, error: str, delay_seconds: float) -> int:
        """Put rows back that failed, due again after the delay."""
        changes = f"status = 'pending', {self.due} = {dialect().later}, last_error = %s"
        seconds = max(1, round(delay_seconds))
        return self._end(changes, ids, token, [seconds, error[:MAX_ERROR_LENGTH]])

    def bury(self, rows: Sequence[Row], *, token: str, error: str) -> int:
        """Make rows dead letters: status and copy in one transaction."""
        ids = [row.id for row in rows]
        changes = f"status = 'failed', processed_at = {dialect().now}, last_error = %s"
        with transaction.atomic():
            count = self._end(changes, ids, token, [error[:MAX_ERROR_LENGTH]])
            if count and self.dead_letter is not None:
                self._copy(ids)
        return count

    def holds(self, row_id: int, *, token: str) -> bool:
        """Whether the row is still ours; if so it stays ours until the transaction ends."""
        renewed = execute(
            f"UPDATE {self.table} SET locked_at = {dialect().now}"  # noqa: S608
            " WHERE id = %s AND worker_token = %s AND status = 'processing'",
            [row_id, token],
        )
        return renewed == 1

    def heartbeat(self, token: str) -> int:
        """Renew the lease of everything still held under the token."""
        return execute(
            f"UPDATE {self.table} SET locked_at = {dialect().now}"  # noqa: S608
            " WHERE worker_token = %s AND status = 'processing'",
            [token],
        )

    def _end(
        self, changes: str, ids: Sequence[int], token: str, parameters: Sequence[Any] = ()
    ) -> int:
        if not ids:
            return 0
        statement = (
            f"UPDATE {self.table} SET {changes}, worker_token = NULL, locked_at = NULL,"  # noqa: S608
            f" updated_at = {dialect().now} WHERE id IN ({_marks(ids)}) AND worker_token = %s"
        )
        values = [*parameters, *ids, token]
        return retry_deadlocks(lambda: execute(statement, values))

    # -- dead letters

    def redrive(self, ids: Sequence[int]) -> list[int]:
        """Send dead letters back, in id order, with fresh attempts; tells which ones moved.

        Rows that are not dead are left alone, so a second call moves nothing. The caller logs who
        and why in the same transaction.
        """
        now = dialect().now
        with transaction.atomic():
            moved = self._lock_dead(ids)
            if moved:
                execute(
                    f"UPDATE {self.table} SET status = 'pending', attempts = 0,"  # noqa: S608
                    f" {self.due} = {now}, processed_at = NULL, last_error = NULL,"
                    f" updated_at = {now}"
                    f" WHERE id IN ({_marks(moved)})",
                    moved,
                )
                self._delete_copies(moved)
        return moved

    def discard(self, ids: Sequence[int]) -> list[int]:
        """Delete dead letters and their copies; tells which ones went."""
        with transaction.atomic():
            gone = self._lock_dead(ids)
            self.model._default_manager.filter(pk__in=gone).delete()
            self._delete_copies(gone)
        return gone

    def prune(self, *, older_than_seconds: int, limit: int) -> int:
        """Delete up to `limit` rows completed so long ago; dead letters stay until someone decides.

        Ids are read without locks and deleted by primary key, so that claims are never blocked.
        """
        rows = fetch(
            f"SELECT id FROM {self.table} WHERE status = 'completed'"  # noqa: S608
            f" AND processed_at < {dialect().earlier} ORDER BY id LIMIT {limit}",
            [older_than_seconds],
        )
        if not rows:
            return 0
        return execute(
            f"DELETE FROM {self.table} WHERE id IN ({_marks(rows)})"  # noqa: S608
            " AND status = 'completed'",
            [row[0] for row in rows],
        )

    def _lock_dead(self, ids: Sequence[int]) -> list[int]:
        dead = self.model._default_manager.select_for_update().filter(
            pk__in=ids, status=LeaseStatus.FAILED
        )
        return list(dead.order_by("pk").values_list("pk", flat=True))

    def _copy(self, ids: Sequence[int]) -> None:
        assert self.dead_letter is not None  # noqa: S101 (checked by the only caller)
        copied = self.copied or {}
        reference = next(iter(copied))
        rows = self.model._default_manager.filter(pk__in=ids, status=LeaseStatus.FAILED)
        copies = [
            self.dead_letter(**dict(zip(copied, values, strict=True)))
            for values in rows.values_list(*copied.values())
        ]
        manager = self.dead_letter._default_manager
        manager.filter(**{f"{reference}__in": ids}).delete()
        manager.bulk_create(copies)

    def _delete_copies(self, ids: Sequence[int]) -> None:
        if self.dead_letter is not None and self.copied:
            reference = next(iter(self.copied))
            self.dead_letter._default_manager.filter(**{f"{reference}__in": ids}).delete()


@contextmanager
def kept_alive(queue: LeasedQueue, token: str, *, lease_seconds: int) -> Iterator[None]:
    """Renew the lease from a thread of its own, at a third of its length, while the block runs.

    A database that does not answer does not end the renewing: it is tried again until it does.
    """
    stopped = threading.Event()

    def renew() -> None:
        wait_seconds = lease_seconds / 3
        while not stopped.wait(wait_seconds):
            try:
                queue.heartbeat(token)
                wait_seconds = lease_seconds / 3
            except DatabaseError:
                logger.warning("lease.heartbeat_failed", exc_info=True)
                connection.close()
                wait_seconds = HEARTBEAT_RETRY_SECONDS
        connection.close()

    thread = threading.Thread(target=renew, name="lease heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()


def _before_last_attempts(found: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The rows before the first one whose attempts are nearly used up, or that one alone."""
    last = (n for n, (_id, attempts, limit, *_) in enumerate(found) if attempts + 1 >= limit)
    return found[: max(1, next(last, len(found)))]


def _marks(values: Sequence[Any]) -> str:
    return ", ".join(["%s"] * len(values))
