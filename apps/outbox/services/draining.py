"""Handling events: claim a batch, run the handlers, complete, retry or bury. See docs/outbox.md."""

import logging
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from django.conf import settings
from django.db import transaction

from apps.common.dialects import as_datetime, as_json, is_connection_lost, retry_deadlocks
from apps.common.leased_queue import WORKER_LOST, Claim, Row, kept_alive
from apps.outbox import metrics
from apps.outbox.errors import Cancelled, LeaseLost, Snoozed
from apps.outbox.events import Event
from apps.outbox.models import RedriveLog
from apps.outbox.queries import paused_types
from apps.outbox.queue import EVENT_QUEUE
from apps.outbox.registry import Handler, registered
from apps.outbox.services import attempts, handler_states, ordering, timings
from apps.outbox.services.holding import hold_back, is_open
from apps.outbox.stopping import stop_requested
from apps.outbox.timeouts import limited_to
from apps.outbox.tracing import caused_by, without_trace

logger = logging.getLogger(__name__)

# Commits are what costs: twice and a half as many events a commit drained nearly twice as fast.
DEFAULT_BATCH_SIZE = 500


@dataclass(slots=True)
class DrainReport:
    """What one drain did: numbers of events by outcome."""

    claimed: int = 0
    completed: int = 0
    retried: int = 0
    dead: int = 0
    released: int = 0
    held: int = 0


@dataclass(slots=True)
class _Failure:
    """Why an event did not complete; the handler with the earliest next try decides when."""

    errors: dict[str, str]
    delay_seconds: float
    is_final: bool = False

    @property
    def text(self) -> str:
        """The latest error, with the handler's short name."""
        name, error = next(reversed(self.errors.items()))
        return f"{name.rpartition('.')[2]}: {error}"


def drain(max_seconds: float, batch_size: int = DEFAULT_BATCH_SIZE) -> DrainReport:
    """Handle due events until there is none, the time is over, or a stop is asked for."""
    report = DrainReport()
    deadline = time.monotonic() + max_seconds

    def must_stop() -> bool:
        return stop_requested.is_set() or time.monotonic() >= deadline

    while not must_stop():
        claim = EVENT_QUEUE.claim(batch_size, lease_seconds=settings.OUTBOX_LEASE_SECONDS)
        if claim is None:
            break
        with kept_alive(EVENT_QUEUE, claim.token, lease_seconds=settings.OUTBOX_LEASE_SECONDS):
            _Batch(claim, report, must_stop).run()
    timings.note_sometimes()
    return report


@dataclass(slots=True)
class _Batch:
    """One claimed batch on its way through the handlers."""

    claim: Claim
    report: DrainReport
    must_stop: Callable[[], bool]
    rng: random.Random = field(default_factory=random.Random)
    rows: dict[int, Row] = field(default_factory=dict)
    events: dict[int, Event] = field(default_factory=dict)
    failures: dict[int, _Failure] = field(default_factory=dict)
    done: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    with_states: set[int] = field(default_factory=set)
    ended: set[int] = field(default_factory=set)

    def run(self) -> None:
        """Run all handlers, then write every outcome."""
        self._read_events()
        held = self._held()
        self._give_back(held, 0, "held")
        hold_back(held)
        # Events that were snoozed, blocked or redriven have states and yet no former attempt.
        self.done.update(handler_states.done_handlers(list(self.rows)))
        self.with_states.update(self.done)
        for handler in registered():
            self._run_handler(handler)
        self._finish()

    def _read_events(self) -> None:
        self.report.claimed += len(self.claim.rows)
        if self.claim.is_reclaimed:
            (lost,) = self.claim.rows
            attempts.note(lost.id, lost.attempts - 1, {"": WORKER_LOST}, retry_seconds=0)
        self.rows = {row.id: row for row in sorted(self.claim.rows, key=lambda row: row.id)}
        redriven = self._redriven_ids()
        for row in self.rows.values():
            event_type, aggregate_type, aggregate_id, stored, created_at = row.values
            payload, trace = without_trace(as_json(stored) or {})
            self.events[row.id] = Event(
                id=row.id,
                event_type=event_type,
                aggregate_type=aggregate_type,
                aggregate_id=aggregate_id,
                payload=payload,
                attempts=row.attempts,
                created_at=as_datetime(created_at),
                is_redrive=row.id in redriven,
                trace=trace,
            )

    def _redriven_ids(self) -> set[int]:
        """Which rows an operator has sent back before."""
        ids = RedriveLog.objects.filter(event_id__in=self.rows).values_list("event_id", flat=True)
        return set(ids)

    def _held(self) -> list[int]:
        paused = set(paused_types())
        return [
            event.id
            for event in self.events.values()
            if event.event_type in paused or not is_open(event.aggregate_type, event.aggregate_id)
        ]

    # -- running handlers

    def _run_handler(self, handler: Handler) -> None:
        events = [
            event
            for event in self._open_events()
            if handler.wants(event) and handler.name not in self.done[event.id]
        ]
        if not events:
            return
        if handler.batch:
            self._run_batched(handler, events)
        elif handler.ordered:
            self._run_ordered(handler, events)
        else:
            self._run_each(handler, events)

    def _open_events(self) -> list[Event]:
        return [event for event in self.events.values() if event.id not in self.ended]

    def _run_each(self, handler: Handler, events: Iterable[Event]) -> None:
        waiting = []
        for event in events:
            if self.must_stop():
                waiting.append(event.id)
            else:
                self._run_one(handler, event)
        self._give_back(waiting, 0, "released")

    def _run_one(self, handler: Handler, event: Event) -> bool:
        """Run one handler for one event; tells whether it succeeded."""
        started = time.perf_counter()
        try:
            with limited_to(handler.timeout_seconds), caused_by(event.id, event.trace):
                if handler.transactional:
                    self._run_transactional(handler, event)
                else:
                    handler.function(event)
        except Snoozed as wish:
            self._give_back([event.id], wish.delay_seconds, "released")
            return False
        except LeaseLost:
            self.ended.add(event.id)
            return False
        except Exception as error:  # noqa: BLE001 (a handler may raise anything; it is written down)
            self._record_failure(handler, event, error)
            return False
        finally:
            metrics.observe_call(handler.name, time.perf_counter() - started)
        self.done[event.id].add(handler.name)
        return True

    def _run_transactional(self, handler: Handler, event: Event) -> None:
        """Effect and completion in one transaction: both or neither, and only under our lease."""
        others = [h for h in registered() if h.wants(event) and h.name != handler.name]
        with transaction.atomic():
            handler.function(event)
            if others:
                handler_states.remember({event.id: [handler.name]})
                self.with_states.add(event.id)
                is_ours = EVENT_QUEUE.holds(event.id, token=self.claim.token)
            else:
                is_ours = EVENT_QUEUE.complete([event.id], token=self.claim.token) == 1
            if not is_ours:
                raise LeaseLost(event.id)
        if not others:
            self.ended.add(event.id)
            self._count([event.id], "completed")

    def _run_ordered(self, handler: Handler, events: Sequence[Event]) -> None:
        """One after another within an aggregate; whoever comes after a failure waits."""
        blocked = ordering.blocked_aggregates(handler, events)
        waiting: dict[int, list[int]] = defaultdict(list)
        for event in events:
            aggregate = (event.aggregate_type, event.aggregate_id)
            blocker = blocked.get(aggregate)
            if blocker and blocker.event_id < event.id:
                waiting[blocker.delay_seconds].append(event.id)
            elif self.must_stop():
                waiting[0].append(event.id)
            elif not self._run_one(handler, event):
                blocked.setdefault(aggregate, ordering.Blocker(event.id))
        for delay, ids in waiting.items():
            self._give_back(ids, delay, "released")

    def _run_batched(self, handler: Handler, events: Sequence[Event]) -> None:
        """One call with the latest event of each aggregate; it succeeds or fails for all.

        Aggregates with a former attempt are called alone, so that one that always fails takes no
        other with it.
        """
        by_aggregate: dict[tuple[str, str], list[Event]] = defaultdict(list)
        for event in events:
            by_aggregate[event.aggregate_type, event.aggregate_id].append(event)
        fresh = [group for group in by_aggregate.values() if group[-1].attempts == 1]
        tried = [group for group in by_aggregate.values() if group[-1].attempts > 1]
        for groups in ([fresh] if fresh else []) + [[group] for group in tried]:
            self._run_batch(handler, groups)

    def _run_batch(self, handler: Handler, groups: Sequence[Sequence[Event]]) -> None:
        events = [event for group in groups for event in group]
        started = time.perf_counter()
        try:
            with limited_to(handler.timeout_seconds):
                handler.function([group[-1] for group in groups])
        except Snoozed as wish:
            self._give_back([event.id for event in events], wish.delay_seconds, "released")
        except Exception as error:  # noqa: BLE001 (as above)
            for event in events:
                self._record_failure(handler, event, error)
        else:
            for event in events:
                self.done[event.id].add(handler.name)
        finally:
            metrics.observe_call(handler.name, time.perf_counter() - started)

    def _record_failure(self, handler: Handler, event: Event, error: Exception) -> None:
        """Note a failure to be written at the end; a lost database fails the drain, no event."""
        if is_connection_lost(error):
            raise error
        delay = handler.retry.delay_seconds(event.attempts, rng=self.rng)
        known = self.failures.setdefault(event.id, _Failure({}, delay))
        known.errors[handler.name] = f"{type(error).__name__}: {error}"
        known.delay_seconds = min(delay, known.delay_seconds)
        known.is_final = known.is_final or isinstance(error, Cancelled)
        fields = {"handler": handler.name, "event_id": event.id, "attempts": event.attempts}
        logger.warning("outbox.handler_failed", extra=fields, exc_info=error)

    # -- writing outcomes

    def _finish(self) -> None:
        finished = [event.id for event in self._open_events() if event.id not in self.failures]
        completed = EVENT_QUEUE.complete(finished, token=self.claim.token)
        self._count(finished[:completed], "completed")
        if completed == len(finished):
            handler_states.forget([i for i in finished if i in self.with_states])
        for event_id, failure in self.failures.items():
            if event_id not in self.ended:
                outcome = retry_deadlocks(partial(self._write_failure, event_id, failure))
                if outcome:
                    self._count([event_id], outcome)

    @transaction.atomic
    def _write_failure(self, event_id: int, failure: _Failure) -> str | None:
        """What became of the event; None when it was no longer ours."""
        row = self.rows[event_id]
        is_final = row.is_last_attempt or failure.is_final
        if is_final:
            changed = EVENT_QUEUE.bury([row], token=self.claim.token, error=failure.text)
        else:
            changed = EVENT_QUEUE.retry(
                [event_id],
                token=self.claim.token,
                error=failure.text,
                delay_seconds=failure.delay_seconds,
            )
        if not changed:
            return None
        handler_states.remember({event_id: self.done[event_id]})
        delay = None if is_final else failure.delay_seconds
        attempts.note(event_id, row.attempts, failure.errors, retry_seconds=delay)
        return "dead" if is_final else "retried"

    def _give_back(self, ids: Sequence[int], delay_seconds: int, outcome: str) -> None:
        """Write down what is done before others may take the events up, and let them go.

        One that a handler has failed stays with us: its attempt counts, and is written at the end.
        """
        going = [event_id for event_id in ids if event_id not in self.failures]
        handler_states.remember({event_id: self.done[event_id] for event_id in going})
        count = EVENT_QUEUE.release(going, token=self.claim.token, delay_seconds=delay_seconds)
        self.ended.update(going)
        self._count(going[:count], outcome)

    def _count(self, ids: Sequence[int], outcome: str) -> None:
        setattr(self.report, outcome, getattr(self.report, outcome) + len(ids))
        for event_type, count in Counter(self.events[i].event_type for i in ids).items():
            metrics.count_events(event_type, outcome, count)
