"""Edges of handling: done stays done, time runs out, leases are lost, one event poisons."""

import time
from datetime import UTC, datetime

import pytest

from apps.outbox.errors import Cancelled, Snoozed
from apps.outbox.events import Event
from apps.outbox.models import HandlerState, OutboxDeadLetter, OutboxEvent
from apps.outbox.registry import handles
from apps.outbox.retry import RetryPolicy
from apps.outbox.services import drain, publish, redrive
from apps.outbox.timeouts import HandlerTimedOut, limited_to

AT_ONCE = RetryPolicy(base_seconds=0, factor=1, jitter=0)

pytestmark = pytest.mark.django_db


def drain_again() -> None:
    """Drain without waiting for the delay of a retry."""
    waiting = OutboxEvent.objects.filter(status="pending")
    waiting.update(available_at=datetime(2026, 1, 1, tzinfo=UTC))
    drain(5)


def test_a_snooze_does_not_repeat_the_other_handlers() -> None:
    calls: list[str] = []
    handles("X")(lambda _event: calls.append("done"))

    @handles("X")
    def sleepy(event: Event) -> None:
        calls.append("sleepy")
        if calls.count("sleepy") == 1:
            raise Snoozed(60)

    publish("X", "t", "1")
    drain(5)
    drain_again()
    assert calls == ["done", "sleepy", "sleepy"]
    assert not HandlerState.objects.exists()


def test_a_redrive_runs_only_what_failed() -> None:
    calls: list[str] = []
    handles("X")(lambda _event: calls.append("good"))

    @handles("X")
    def mended_later(event: Event) -> None:
        calls.append("bad")
        if not event.is_redrive:
            raise Cancelled("not now")

    event_id = publish("X", "t", "1")
    drain(5)
    redrive([event_id], actor="ana", reason="mended")
    drain_again()
    assert calls == ["good", "bad", "bad"]


def test_a_redrive_of_one_handler_leaves_the_other_failed_one_out() -> None:
    calls: list[str] = []

    @handles("X")
    def first(event: Event) -> None:
        calls.append("first")
        raise Cancelled("no")

    @handles("X")
    def second(event: Event) -> None:
        calls.append("second")
        if not event.is_redrive:
            raise Cancelled("no")

    event_id = publish("X", "t", "1")
    drain(5)
    name = f"{second.__module__}.{second.__qualname__}"
    redrive([event_id], actor="ana", reason="only the second", handler=name)
    drain_again()
    assert calls == ["first", "second", "second"]
    assert OutboxEvent.objects.get().status == "completed"


def test_an_event_that_an_ordered_handler_has_done_blocks_nothing_in_it() -> None:
    seen: list[int] = []
    handles("X", ordered=True)(lambda event: seen.append(event.payload["n"]))

    @handles("X")
    def refuses_the_first(event: Event) -> None:
        if event.payload["n"] == 0:
            raise Cancelled("no")

    publish("X", "t", "a", {"n": 0})
    drain(5)
    publish("X", "t", "a", {"n": 1})
    drain(5)
    assert seen == [0, 1]


def test_one_poison_in_a_batch_takes_no_other_aggregate_along() -> None:
    @handles("X", batch=True, retry=AT_ONCE)
    def together(events: list[Event]) -> None:
        if any(event.payload["is_poison"] for event in events):
            raise RuntimeError("poison")

    for number in range(5):
        publish("X", "t", str(number), {"is_poison": number == 2}, max_attempts=2)
    drain(5)
    drain_again()
    assert OutboxDeadLetter.objects.get().aggregate_id == "2"
    assert OutboxEvent.objects.filter(status="completed").count() == 4


def test_a_batch_can_be_snoozed() -> None:
    @handles("X", batch=True)
    def sleepy(events: list[Event]) -> None:
        raise Snoozed(60)

    publish("X", "t", "1")
    assert drain(5).released == 1
    assert OutboxEvent.objects.get().attempts == 0


def test_a_handler_past_its_time_fails() -> None:
    @handles("X", timeout_seconds=0.1)
    def hangs(event: Event) -> None:
        time.sleep(30)

    publish("X", "t", "1")
    assert drain(5).retried == 1
    assert "HandlerTimedOut" in (OutboxEvent.objects.get().last_error or "")


def test_an_inner_limit_gives_the_outer_alarm_back() -> None:
    def outlive_the_outer_limit() -> None:
        with limited_to(0.2):
            with limited_to(5):
                pass
            time.sleep(5)

    with pytest.raises(HandlerTimedOut, match=r"0\.2 s"):
        outlive_the_outer_limit()


def test_a_transactional_effect_needs_the_lease_of_its_own_event() -> None:
    handles("X")(lambda _event: None)

    @handles("X", transactional=True)
    def loses_its_lease(event: Event) -> None:
        publish("EFFECT", "t", event.aggregate_id)
        if event.aggregate_id == "lost":
            OutboxEvent.objects.filter(pk=event.id).update(worker_token="somebody else")

    for name in ("lost", "kept"):
        publish("X", "t", name)
    drain(5, batch_size=2)
    effects = OutboxEvent.objects.filter(event_type="EFFECT")
    assert list(effects.values_list("aggregate_id", flat=True)) == ["kept"]


def test_outcomes_after_a_lost_lease_are_not_counted() -> None:
    @handles("X")
    def loses_its_lease(event: Event) -> None:
        OutboxEvent.objects.filter(pk=event.id).update(worker_token="somebody else")
        raise Snoozed(5)

    publish("X", "t", "1")
    assert drain(5).released == 0
