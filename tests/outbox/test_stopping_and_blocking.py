"""A stop is heard between any two calls, and what waits for a dead event costs little."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from apps.common.dialects import as_datetime, dialect, fetch
from apps.outbox.errors import Cancelled, Snoozed
from apps.outbox.events import Event
from apps.outbox.models import OutboxDeadLetter, OutboxEvent
from apps.outbox.registry import handles
from apps.outbox.services import drain, publish
from apps.outbox.services.ordering import DEAD_BLOCK_DELAY_SECONDS
from apps.outbox.stopping import stop_requested

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_stop_left() -> Iterator[None]:
    yield
    stop_requested.clear()


def publish_numbers(count: int, aggregate_id: str = "") -> None:
    for number in range(count):
        publish("X", "t", aggregate_id or str(number), {"n": number})


@pytest.mark.parametrize("is_ordered", [False, True])
def test_a_stop_between_two_handlers_leaves_the_second_for_later(*, is_ordered: bool) -> None:
    first: list[int] = []
    second: list[int] = []

    @handles("X")
    def asks_for_a_stop(event: Event) -> None:
        first.append(event.payload["n"])
        if len(first) == 5:
            stop_requested.set()

    handles("X", ordered=is_ordered)(lambda event: second.append(event.payload["n"]))
    publish_numbers(5)
    assert drain(60).released == 5
    assert second == []
    assert set(OutboxEvent.objects.values_list("status", "attempts")) == {("pending", 0)}
    stop_requested.clear()
    drain(60)
    assert (first, second) == ([0, 1, 2, 3, 4], [0, 1, 2, 3, 4])


def test_a_failure_before_a_stop_is_charged_and_written() -> None:
    @handles("X")
    def fails_and_stops(event: Event) -> None:
        stop_requested.set()
        raise RuntimeError("no")

    publish("X", "t", "1")
    assert drain(60).retried == 1
    assert OutboxEvent.objects.get().attempts == 1


def test_a_snooze_does_not_hide_what_another_handler_failed() -> None:
    @handles("X")
    def fails(event: Event) -> None:
        raise RuntimeError("no")

    @handles("X")
    def sleepy(event: Event) -> None:
        raise Snoozed(60)

    publish("X", "t", "1", max_attempts=1)
    assert drain(60).dead == 1
    assert "fails: RuntimeError" in (OutboxDeadLetter.objects.get().last_error or "")


def bury_the_first(waiting: int) -> None:
    """A dead event with so many of its aggregate behind it."""

    @handles("X", ordered=True)
    def refuses_the_first(event: Event) -> None:
        if event.payload["n"] == 0:
            raise Cancelled("no")

    publish_numbers(1, "a")
    drain(60)
    assert OutboxDeadLetter.objects.exists()
    publish_numbers(waiting, "a")
    OutboxEvent.objects.filter(status="pending").update(payload={"n": 1})


def test_what_waits_for_a_dead_event_rests_a_while() -> None:
    bury_the_first(waiting=1)
    drain(60)
    (now,) = fetch(f"SELECT {dialect().now}", [])[0]
    waits = OutboxEvent.objects.get(status="pending").available_at - as_datetime(now)
    assert DEAD_BLOCK_DELAY_SECONDS - 2 <= waits.total_seconds() <= DEAD_BLOCK_DELAY_SECONDS


def test_giving_blocked_events_back_takes_the_same_statements_for_any_number(
    django_assert_max_num_queries: Any,
) -> None:
    bury_the_first(waiting=60)
    with django_assert_max_num_queries(25):
        assert drain(60).released == 60


def test_ids_that_differ_in_case_block_each_other_never() -> None:
    bury_the_first(waiting=1)
    publish("X", "t", "A", {"n": 1})
    OutboxEvent.objects.filter(status="pending").update(
        available_at=datetime(2026, 1, 1, tzinfo=UTC)
    )
    report = drain(60)
    assert (report.completed, report.released) == (1, 1)
