"""Reservations: a burst never crosses a hard limit, and what is held ends up somewhere."""

from datetime import timedelta

import pytest

from apps.delivery import errors
from apps.delivery.models import UsageReservation
from apps.delivery.services.usage import (
    Ask,
    commit,
    expire_reservations,
    ingest,
    recompute,
    release,
    reserve,
)

from .racing import race
from .usage_rows import NOW, PERIOD, make_metric, report, total

LOJA = ("loja", "orders")


def ask(reservation_id: str = "r1", quantity: int = 4, hold_seconds: int = 60) -> Ask:
    return Ask(*LOJA, reservation_id, quantity, hold_seconds)


@pytest.fixture
def _limited(db: None) -> None:
    make_metric(included=10, on_limit="block")


pytestmark = pytest.mark.usefixtures("_limited")


def figures() -> tuple[int, int]:
    return total().used, total().reserved


def test_what_is_held_leaves_less_room() -> None:
    reserve(ask("a", 8), now=NOW)
    with pytest.raises(errors.UsageLimitReached) as refused:
        reserve(ask("b", 3), now=NOW)
    assert refused.value.details["reserved"] == 8
    assert [outcome.status for outcome in ingest([report("c", 3)], now=NOW)] == ["limit_reached"]
    assert figures() == (0, 8)


def test_asking_again_gives_the_same_reservation() -> None:
    first = reserve(ask(), now=NOW)
    assert reserve(ask(), now=NOW + timedelta(seconds=5)) == first
    with pytest.raises(errors.ReservationConflict):
        reserve(ask(quantity=5), now=NOW)
    assert figures() == (0, 4)


def test_a_commit_counts_once_and_gives_the_rest_back() -> None:
    reserve(ask(), now=NOW)
    for _repeat in range(2):
        commit(*LOJA, "r1", used=3, now=NOW)
    assert figures() == (3, 0)
    with pytest.raises(errors.UsageEventConflict):
        commit(*LOJA, "r1", used=2, now=NOW)
    with pytest.raises(errors.ReservationEnded):
        release(*LOJA, "r1")


def test_more_than_held_is_never_committed() -> None:
    reserve(ask(), now=NOW)
    with pytest.raises(errors.ReservationConflict):
        commit(*LOJA, "r1", used=5, now=NOW)
    assert figures() == (0, 4)


def test_a_release_happens_once() -> None:
    reserve(ask(), now=NOW)
    release(*LOJA, "r1")
    release(*LOJA, "r1")
    assert figures() == (0, 0)
    for late in (lambda: commit(*LOJA, "r1", now=NOW), lambda: reserve(ask(), now=NOW)):
        with pytest.raises(errors.ReservationEnded):
            late()


def test_a_lost_reservation_is_reported_as_an_event_and_counted_once() -> None:
    reserve(ask(hold_seconds=60), now=NOW)
    assert expire_reservations(now=NOW + timedelta(seconds=60)) == 1
    assert expire_reservations(now=NOW + timedelta(seconds=60)) == 0
    ingest([report("r1", 4, occurred_at=None)] * 2, now=NOW + timedelta(seconds=61))
    assert figures() == (4, 0)


def test_an_event_of_the_same_id_and_its_commit_count_once() -> None:
    reserve(ask(), now=NOW)
    ingest([report("r1", 4, occurred_at=None)], now=NOW)
    commit(*LOJA, "r1", now=NOW)
    assert figures() == (4, 0)


def test_room_that_only_expired_reservations_hold_is_given_at_once() -> None:
    reserve(ask("a", 10, hold_seconds=1), now=NOW)
    reserve(ask("b", 10), now=NOW + timedelta(seconds=1))
    assert figures() == (0, 10)


def test_a_commit_after_the_period_counts_where_it_was_reserved() -> None:
    eve = NOW.replace(day=31, hour=23, minute=59)
    reserve(ask(hold_seconds=600), now=eve)
    commit(*LOJA, "r1", now=eve + timedelta(minutes=5))
    assert total().period.isoformat() == PERIOD
    assert not recompute(*LOJA, PERIOD, now=NOW).is_corrected


def test_a_plan_that_shrank_below_its_usage_refuses_without_failing() -> None:
    reserve(ask("a", 8), now=NOW)
    total().metric.app.plan.limits.update(included=2)
    with pytest.raises(errors.UsageLimitReached):
        reserve(ask("b", 1), now=NOW)
    with pytest.raises(errors.UsageLimitReached):
        reserve(ask("c", 3), now=NOW)


@pytest.mark.django_db(transaction=True)
def test_a_burst_never_crosses_the_hard_limit() -> None:
    numbers = iter(range(1000))

    def burst() -> int:
        got = 0
        for _attempt in range(4):
            try:
                reserve(ask(f"r{next(numbers)}", 1), now=NOW)
            except errors.UsageLimitReached:
                continue
            got += 1
        return got

    assert sum(race(burst, count=8)) == 10  # type: ignore[call-overload]
    assert figures() == (0, 10)


@pytest.mark.django_db(transaction=True)
def test_racing_asks_commits_and_events_add_up() -> None:
    def work() -> None:
        for number in range(5):
            name = f"r{number}"
            try:
                reserve(ask(name, 2), now=NOW)
                commit(*LOJA, name, now=NOW)
            except (errors.UsageLimitReached, errors.ReservationEnded):
                pass
            ingest([report(name, 2, occurred_at=None)], now=NOW)

    race(work, count=6)
    assert figures() == (10, 0)
    assert UsageReservation.objects.count() <= 5
    assert not recompute(*LOJA, PERIOD, now=NOW).is_corrected
