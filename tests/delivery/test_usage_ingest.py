"""Usage events: counted once, refused with a reason, never half."""

import random
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext

from apps.delivery.models import LimitAlert, UsageEvent, UsageTotal
from apps.delivery.services.usage import Acceptance, ingest, recompute
from apps.delivery.services.usage_alerts import LIMIT_EVENT
from apps.delivery.usage.events import MAX_QUANTITY, Refusal, UsageReport
from apps.outbox.models import OutboxEvent

from .racing import race
from .rows import make_app
from .usage_rows import NOW, PERIOD, make_metric, report, total

ADDON = {"on_limit": "auto_addon", "overage_mode": "unit", "price_minor": 3}


def statuses(*reports: UsageReport, now: datetime = NOW) -> list[str]:
    return [outcome.status for outcome in ingest(reports, now=now)]


@pytest.mark.django_db
def test_the_same_event_counts_once() -> None:
    make_metric()
    assert statuses(report(quantity=5), report(quantity=5)) == ["accepted", "duplicate"]
    assert statuses(report(quantity=5)) == ["duplicate"]
    assert (total().used, total().event_count) == (5, 1)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "other", [{"quantity": 6}, {"subject": "ana"}, {"occurred_at": NOW - timedelta(seconds=1)}]
)
def test_another_payload_under_the_same_id_is_a_conflict(other: dict[str, Any]) -> None:
    make_metric()
    first = report(quantity=5)
    second = report(**{"quantity": 5, **other})
    assert statuses(first, second) == ["accepted", "event_conflict"]
    assert statuses(second) == ["event_conflict"]
    assert total().used == 5


@pytest.mark.django_db
def test_an_event_without_a_time_is_the_same_when_sent_later() -> None:
    make_metric()
    undated = report(occurred_at=None)
    assert statuses(undated) == ["accepted"]
    assert statuses(undated, now=NOW + timedelta(hours=1)) == ["duplicate"]
    assert UsageEvent.objects.get().occurred_at == NOW


@pytest.mark.django_db
def test_ids_are_compared_character_by_character() -> None:
    make_metric()
    assert statuses(report("a"), report("A"), report("a.")) == ["accepted"] * 3


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("fields", "refusal"),
    [
        ({"quantity": -1}, Refusal.INVALID_QUANTITY),
        ({"quantity": MAX_QUANTITY + 1}, Refusal.INVALID_QUANTITY),
        ({"quantity": True}, Refusal.INVALID_QUANTITY),
        ({"event_id": ""}, Refusal.INVALID_ID),
        ({"event_id": "a b"}, Refusal.INVALID_ID),
        ({"event_id": "é"}, Refusal.INVALID_ID),
        ({"event_id": "x" * 101}, Refusal.INVALID_ID),
        ({"subject": "x" * 81}, Refusal.INVALID_SUBJECT),
        ({"subject": "a\nb"}, Refusal.INVALID_SUBJECT),
        ({"metric_code": "Orders"}, Refusal.UNKNOWN_METRIC),
        ({"app_code": "LOJA"}, Refusal.UNKNOWN_METRIC),
        ({"occurred_at": datetime(3000, 1, 1, tzinfo=UTC)}, Refusal.TOO_EARLY),
        ({"occurred_at": datetime(1, 1, 1, tzinfo=UTC)}, Refusal.TOO_LATE),
        ({"occurred_at": NOW + timedelta(minutes=5, seconds=1)}, Refusal.TOO_EARLY),
        ({"occurred_at": NOW.replace(tzinfo=None)}, Refusal.INVALID_TIME),
    ],
)
def test_what_is_refused_leaves_nothing(fields: dict[str, Any], refusal: Refusal) -> None:
    make_metric()
    assert statuses(report(**fields)) == [refusal]
    assert not UsageEvent.objects.exists()
    assert not UsageTotal.objects.filter(used__gt=0).exists()


@pytest.mark.django_db
def test_a_period_takes_late_events_for_three_days() -> None:
    make_metric()
    end = datetime(2026, 4, 1, tzinfo=UTC)
    late = report("late", occurred_at=end - timedelta(seconds=1))
    closing = end + timedelta(days=3)
    assert statuses(late, now=closing) == ["too_late"]
    assert statuses(late, now=closing - timedelta(seconds=1)) == ["accepted"]
    assert total().period.isoformat() == PERIOD


@pytest.mark.django_db
def test_the_period_follows_the_clock_of_the_app() -> None:
    make_metric(make_app(time_zone="America/Sao_Paulo"))
    midnight = datetime(2026, 4, 1, 3, tzinfo=UTC)
    before = report("before", occurred_at=midnight - timedelta(seconds=1))
    after = report("after", occurred_at=midnight)
    statuses(before, after, now=midnight + timedelta(minutes=1))
    found = {event.event_id: event.period.isoformat() for event in UsageEvent.objects.all()}
    assert found == {"before": "2026-03-01", "after": "2026-04-01"}


@pytest.mark.django_db
def test_a_refused_event_does_not_keep_its_neighbours_from_counting() -> None:
    make_metric()
    found = statuses(report("a"), report("b", quantity=-1), report("c"))
    assert found == ["accepted", "invalid_quantity", "accepted"]
    assert total().used == 2


@pytest.mark.django_db
def test_a_plan_that_blocks_takes_an_event_whole_or_not_at_all() -> None:
    make_metric(included=10, on_limit="block")
    found = statuses(report("a", 8), report("b", 3), report("c", 2), report("d", 0))
    assert found == ["accepted", "limit_reached", "accepted", "accepted"]
    assert total().used == 10
    assert statuses(report("b", 3)) == ["limit_reached"]


@pytest.mark.django_db
def test_an_addon_lets_more_in_up_to_its_hard_limit() -> None:
    make_metric(included=10, hard_limit=15, **ADDON)
    assert statuses(report("a", 14), report("b", 2)) == ["accepted", "limit_reached"]


@pytest.mark.django_db
def test_alerts_come_once_a_period_with_an_event_each() -> None:
    make_metric(included=100, soft_limit=90, **ADDON)
    for number, quantity in enumerate((79, 1, 15, 30, 10)):
        statuses(report(f"e{number}", quantity))
    found = list(LimitAlert.objects.order_by("pk").values_list("kind", "percent", "used"))
    assert found == [
        ("percent", 80, 80),
        ("soft_limit", 0, 95),
        ("percent", 100, 125),
        ("percent", 120, 125),
    ]
    assert OutboxEvent.objects.filter(event_type=LIMIT_EVENT).count() == 4


@pytest.mark.django_db
def test_a_changed_plan_arms_its_alerts_anew() -> None:
    metric = make_metric(included=100, **ADDON)
    statuses(report("a", 100))
    metric.app.plan.limits.update(included=10)
    statuses(report("b", 1))
    assert LimitAlert.objects.filter(threshold=10).count() == 3


@pytest.mark.django_db
def test_a_failed_write_is_never_counted_as_seen() -> None:
    make_metric(included=10, **ADDON)
    with (
        patch("apps.delivery.services.usage_ingest.raise_alerts", side_effect=DatabaseError),
        pytest.raises(DatabaseError),
    ):
        ingest([report(quantity=5)], now=NOW)
    assert not UsageEvent.objects.exists()
    assert statuses(report(quantity=5)) == ["accepted"]
    assert total().used == 5


@pytest.mark.django_db
def test_a_batch_takes_as_many_queries_as_one_event() -> None:
    make_metric(included=10_000, **ADDON)
    statuses(report("first"))
    with CaptureQueriesContext(connection) as single:
        statuses(report("second"))
    with CaptureQueriesContext(connection) as batch:
        statuses(*(report(f"b{number}") for number in range(100)))
    assert len(batch) == len(single)


@pytest.mark.django_db
def test_a_recompute_finds_and_mends_a_wrong_counter() -> None:
    make_metric()
    statuses(report("a", 5), report("b", 7))
    UsageTotal.objects.update(used=99, event_count=1, reserved=4)
    mended = recompute("loja", "orders", PERIOD, now=NOW)
    assert (mended.used_before, mended.used, mended.is_corrected) == (99, 12, True)
    assert (total().used, total().event_count, total().reserved) == (12, 2, 0)
    assert not recompute("loja", "orders", PERIOD, now=NOW).is_corrected


@pytest.mark.django_db(transaction=True)
def test_racing_batches_of_the_same_events_count_each_once() -> None:
    make_metric(included=1, **ADDON)
    make_metric(make_app("blog"), "visits")
    batch = [report(f"e{number}", number) for number in range(60)]
    other = [
        report(f"e{number}", number, app_code="blog", metric_code="visits") for number in range(60)
    ]

    def send() -> list[Acceptance]:
        mixed = [*batch, *other]
        random.shuffle(mixed)
        return statuses(*mixed)

    results = race(send, count=6)
    accepted = sum(found.count("accepted") for found in results)  # type: ignore[attr-defined]
    assert accepted == 120
    assert list(UsageTotal.objects.values_list("used", "event_count")) == [(1770, 60)] * 2
    assert LimitAlert.objects.count() == 3


@pytest.mark.django_db(transaction=True)
def test_one_id_in_two_periods_at_once_counts_in_one() -> None:
    make_metric()
    april = datetime(2026, 4, 1, 12, tzinfo=UTC)
    dates = [april, april - timedelta(days=1)] * 3

    def send() -> list[Acceptance]:
        return statuses(report(occurred_at=dates.pop()), now=april)

    found = [status for result in race(send, count=6) for status in result]  # type: ignore[attr-defined]
    assert found.count("accepted") == 1
    assert set(found) <= {"accepted", "duplicate", "event_conflict"}
    assert sum(UsageTotal.objects.values_list("used", flat=True)) == 1


@pytest.mark.django_db(transaction=True)
def test_racing_events_never_cross_a_hard_limit() -> None:
    make_metric(included=20, on_limit="block")
    ingest([report("first", 1)], now=NOW)
    names = iter(range(1000))

    def send() -> list[Acceptance]:
        return [
            status
            for _batch in range(5)
            for status in statuses(*(report(f"e{next(names)}") for _event in range(3)))
        ]

    found = [status for result in race(send, count=6) for status in result]  # type: ignore[attr-defined]
    assert (found.count("accepted"), total().used) == (19, 20)
    assert LimitAlert.objects.count() == 2
