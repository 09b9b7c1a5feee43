"""A drain's slot: held by one, free when its holder is gone, whatever the holder's clock said."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from apps.common.dialects import is_connection_lost
from apps.outbox.events import Event
from apps.outbox.models import DrainSlot, OutboxEvent
from apps.outbox.registry import handles
from apps.outbox.services import drain, publish, residency

pytestmark = pytest.mark.django_db


def hold(until: timedelta) -> None:
    DrainSlot.objects.create(name="1", holder="another", held_until=timezone.now() + until)


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The drains that happened; each asks for a stop, so that one round is all."""
    seen: list[float] = []

    def note(seconds: float) -> None:
        seen.append(seconds)
        residency.stop_requested.set()

    monkeypatch.setattr(residency, "drain", note)
    monkeypatch.setattr(residency, "wait_for_work", lambda _seconds: None)
    residency.stop_requested.clear()
    return seen


@pytest.fixture(autouse=True)
def _no_stop_left() -> Any:
    yield
    residency.stop_requested.clear()


@pytest.mark.parametrize(
    ("until", "is_free"),
    [(timedelta(seconds=10), False), (timedelta(seconds=-1), True), (timedelta(days=1), True)],
    ids=["held", "over", "by a clock that was a day ahead"],
)
def test_a_slot_is_taken_when_nobody_can_hold_it(
    rounds: list[float], until: timedelta, is_free: bool
) -> None:
    hold(until)
    residency.reside("1")
    assert bool(rounds) is is_free
    assert (DrainSlot.objects.get().held_until is None) is is_free


def test_a_lost_database_fails_the_drain_and_charges_no_event(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @handles("X")
    def meets_an_outage(_event: Event) -> None:
        raise OperationalError(2006, "Server has gone away")

    publish("X", "t", "1")
    monkeypatch.setattr("apps.outbox.services.draining.is_connection_lost", lambda _error: True)
    with pytest.raises(OperationalError):
        drain(5)
    assert OutboxEvent.objects.get().last_error is None


def test_an_error_of_a_database_that_answers_is_the_handlers_own() -> None:
    assert not is_connection_lost(OperationalError(1213, "Deadlock found"))
    assert not is_connection_lost(ValueError("no"))
    assert connection.is_usable()
