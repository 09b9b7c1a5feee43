"""What happens to events when they are handled."""

from datetime import UTC, datetime
from typing import Any

import pytest

from apps.outbox import registry
from apps.outbox.errors import Cancelled, Snoozed
from apps.outbox.events import Event, NewEvent
from apps.outbox.models import HandlerState, OutboxDeadLetter, OutboxEvent, PausedType
from apps.outbox.queue import EVENT_QUEUE
from apps.outbox.registry import handles
from apps.outbox.retry import RetryPolicy
from apps.outbox.services import (
    drain,
    edit_and_redrive,
    hold_reason,
    pause_type,
    publish,
    publish_many,
    redrive,
    release_held,
    resume_type,
)

AT_ONCE = RetryPolicy(base_seconds=0, factor=1, jitter=0)

pytestmark = pytest.mark.django_db


def make_due() -> None:
    """Retried events wait at least a second; a test does not."""
    OutboxEvent.objects.filter(status="pending").update(
        available_at=datetime(2026, 1, 1, tzinfo=UTC)
    )


def states() -> list[str]:
    return list(OutboxEvent.objects.order_by("pk").values_list("status", flat=True))


def test_events_reach_their_handlers_and_complete() -> None:
    seen: list[Event] = []
    handles("X")(seen.append)
    publish("X", "thing", "1", {"n": 1})
    publish("OTHER", "thing", "2")
    report = drain(5)
    assert [(event.aggregate_id, event.payload) for event in seen] == [("1", {"n": 1})]
    assert (report.claimed, report.completed) == (2, 2)
    assert states() == ["completed", "completed"]


def test_higher_priorities_come_first() -> None:
    seen: list[str] = []
    handles("X")(lambda event: seen.append(event.aggregate_id))
    publish("X", "t", "low", priority=10)
    publish("X", "t", "high", priority=90)
    drain(5)
    assert seen == ["high", "low"]


def test_q9_a_long_wait_makes_urgent() -> None:
    seen: list[str] = []
    handles("X")(lambda event: seen.append(event.aggregate_id))
    publish("X", "t", "old", priority=10, available_at=datetime(2026, 1, 1, tzinfo=UTC))
    publish("X", "t", "new", priority=90)
    drain(5)
    assert seen == ["old", "new"]


def test_q7_a_failure_waits_and_is_tried_again() -> None:
    calls: list[int] = []

    @handles("X", retry=AT_ONCE)
    def flaky(event: Event) -> None:
        calls.append(event.attempts)
        if event.attempts == 1:
            raise RuntimeError("not yet")

    event_id = publish("X", "t", "1")
    assert drain(5).retried == 1
    row = OutboxEvent.objects.get(pk=event_id)
    assert (row.status, row.attempts) == ("pending", 1)
    assert "RuntimeError: not yet" in (row.last_error or "")
    make_due()
    assert drain(5).completed == 1
    assert calls == [1, 2]


def test_q6_used_up_attempts_end_as_a_dead_letter_with_its_copy() -> None:
    @handles("X", retry=AT_ONCE)
    def broken(event: Event) -> None:
        raise RuntimeError("never")

    event_id = publish("X", "t", "1", {"n": 1}, max_attempts=2)
    for _attempt in range(2):
        make_due()
        drain(5)
    letter = OutboxDeadLetter.objects.get(outbox_event_id=event_id)
    assert (letter.attempts, letter.payload) == (2, {"n": 1})
    assert states() == ["failed"]


def test_a_cancelled_event_goes_straight_to_the_dead_letters() -> None:
    @handles("X")
    def hopeless(event: Event) -> None:
        raise Cancelled("the pack is gone")

    publish("X", "t", "1")
    assert drain(5).dead == 1


def test_a_snoozed_event_comes_back_uncharged() -> None:
    @handles("X")
    def sleepy(event: Event) -> None:
        raise Snoozed(60)

    event_id = publish("X", "t", "1")
    assert drain(5).released == 1
    row = OutboxEvent.objects.get(pk=event_id)
    assert (row.status, row.attempts) == ("pending", 0)


def test_one_failing_handler_does_not_repeat_the_others() -> None:
    calls: list[str] = []
    handles("X")(lambda _event: calls.append("good"))

    @handles("X", retry=AT_ONCE)
    def flaky(event: Event) -> None:
        calls.append("flaky")
        if event.attempts == 1:
            raise RuntimeError("once")

    publish("X", "t", "1")
    drain(5)
    assert HandlerState.objects.count() == 1
    make_due()
    drain(5)
    assert calls == ["good", "flaky", "flaky"]
    assert states() == ["completed"]
    assert not HandlerState.objects.exists()


def test_a_batch_handler_gets_each_aggregate_once_with_its_latest_event() -> None:
    batches: list[list[tuple[str, int]]] = []

    @handles("X", batch=True)
    def together(events: list[Event]) -> None:
        batches.append([(event.aggregate_id, event.payload["n"]) for event in events])

    for number in range(6):
        publish("X", "t", str(number % 2), {"n": number})
    assert drain(5).completed == 6
    assert batches == [[("0", 4), ("1", 5)]]


def test_e10_ordered_events_of_an_aggregate_wait_for_a_failed_one() -> None:
    calls: list[tuple[str, int]] = []

    @handles("X", ordered=True, retry=AT_ONCE)
    def in_order(event: Event) -> None:
        calls.append((event.aggregate_id, event.payload["n"]))
        if event.attempts == 1 and event.payload["n"] == 0:
            raise RuntimeError("stumbles")

    for number in range(3):
        publish("X", "t", "a", {"n": number})
    publish("X", "t", "b", {"n": 9})
    drain(5)
    assert calls == [("a", 0), ("b", 9)]
    for _round in range(3):
        make_due()
        drain(5)
    assert calls == [("a", 0), ("b", 9), ("a", 0), ("a", 1), ("a", 2)]


def test_a_dead_event_blocks_its_aggregate_until_somebody_decides() -> None:
    @handles("X", ordered=True, retry=AT_ONCE)
    def in_order(event: Event) -> None:
        if event.payload["n"] == 0 and not event.is_redrive:
            raise RuntimeError("never")

    first = publish("X", "t", "a", {"n": 0}, max_attempts=1)
    publish("X", "t", "a", {"n": 1})
    drain(5)
    make_due()
    drain(5)
    assert states() == ["failed", "pending"]
    redrive([first], actor="ana", reason="mended")
    for _round in range(2):
        make_due()
        drain(5)
    assert states() == ["completed", "completed"]


def test_with_skip_a_dead_event_is_passed_over() -> None:
    @handles("X", ordered=True, on_dead="skip", retry=AT_ONCE)
    def in_order(event: Event) -> None:
        if event.payload["n"] == 0:
            raise RuntimeError("never")

    publish("X", "t", "a", {"n": 0}, max_attempts=1)
    publish("X", "t", "a", {"n": 1})
    for _round in range(2):
        make_due()
        drain(5)
    assert states() == ["failed", "completed"]


def test_a_transactional_effect_is_undone_with_its_failure() -> None:
    @handles("X", transactional=True)
    def writes_then_fails(event: Event) -> None:
        publish("EFFECT", "t", "1")
        raise RuntimeError("after the effect")

    publish("X", "t", "1")
    drain(5)
    assert not OutboxEvent.objects.filter(event_type="EFFECT").exists()


def test_a_paused_type_waits_and_others_go_on() -> None:
    publish("X", "t", "1")
    publish("Y", "t", "1")
    pause_type("X", actor="ana", reason="target is down")
    drain(5)
    assert states() == ["pending", "completed"]
    assert hold_reason(OutboxEvent.objects.get(event_type="X"), paused={"X"}) == "paused"
    assert resume_type("X")
    drain(5)
    assert states() == ["completed", "completed"]


def test_a_paused_backlog_costs_later_claims_nothing_and_lets_the_worker_sleep() -> None:
    publish_many(NewEvent("X", "t", str(number), {}) for number in range(50))
    pause_type("X", actor="ana", reason="target is down")
    assert drain(5).held == 50
    assert EVENT_QUEUE.claim(10, lease_seconds=60) is None
    assert (EVENT_QUEUE.seconds_until_due() or 0) > 1e6
    assert set(OutboxEvent.objects.values_list("attempts", flat=True)) == {0}


def test_a_release_leaves_paused_types_and_closed_aggregates_held() -> None:
    publish("X", "t", "1")
    publish("Y", "t", "1")
    for event_type in ("X", "Y"):
        pause_type(event_type, actor="ana", reason="target is down")
    drain(5)
    PausedType.objects.filter(pk="Y").delete()
    assert release_held() == 1
    drain(5)
    assert states() == ["pending", "completed"]


def test_q8_a_second_redrive_moves_nothing() -> None:
    @handles("X")
    def hopeless(event: Event) -> None:
        raise Cancelled("no")

    event_id = publish("X", "t", "1")
    drain(5)
    assert redrive([event_id], actor="ana", reason="try") == [event_id]
    assert redrive([event_id], actor="rui", reason="try") == []
    assert not OutboxDeadLetter.objects.exists()


def test_an_edited_letter_goes_back_with_its_new_payload() -> None:
    @handles("X")
    def needs_n(event: Event) -> None:
        if "n" not in event.payload:
            raise Cancelled("no n")

    event_id = publish("X", "t", "1", {})
    drain(5)
    edit_and_redrive(event_id, {"n": 1}, actor="ana", reason="was forgotten")
    drain(5)
    assert states() == ["completed"]


def test_a_batch_handler_cannot_be_ordered() -> None:
    with pytest.raises(ValueError, match="neither ordered nor transactional"):
        handles("X", batch=True, ordered=True)


def test_no_handler_is_left_from_another_test() -> None:
    assert not registry.registered()


def test_e6_draining_a_batch_takes_few_statements(django_assert_max_num_queries: Any) -> None:
    handles("X")(lambda _event: None)
    for number in range(50):
        publish("X", "t", str(number))
    with django_assert_max_num_queries(25):
        drain(5, batch_size=50)
