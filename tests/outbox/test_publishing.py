"""An event is written with the change that it tells, or not at all."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection, transaction

from apps.flags.services import flag_cache, set_flag
from apps.outbox import errors
from apps.outbox.events import NewEvent
from apps.outbox.models import OutboxEvent
from apps.outbox.services import hold_reason, publish, publish_many, release_held

LATER = datetime(2030, 1, 1, tzinfo=UTC)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _fresh_flags() -> None:
    flag_cache.refresh(force=True)


def test_an_event_is_one_insert(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        event_id = publish("PACK_UPDATED", "sticker_pack", "p1", {"a": "ção"})
    event = OutboxEvent.objects.get(pk=event_id)
    assert (event.payload, event.status, event.attempts) == ({"a": "ção"}, "pending", 0)
    assert event.idempotency_key is None


def test_e1_equal_events_without_a_key_are_both_kept() -> None:
    first = publish("ENGAGEMENT_RECORDED", "sticker_pack", "p1", {"action": "like"})
    second = publish("ENGAGEMENT_RECORDED", "sticker_pack", "p1", {"action": "like"})
    assert first != second


def test_a_repeated_key_gives_the_first_event() -> None:
    first = publish("PACK_UPDATED", "sticker_pack", "p1", {"n": 1}, idempotency_key="once:p1")
    second = publish("PACK_UPDATED", "sticker_pack", "p1", {"n": 2}, idempotency_key="once:p1")
    assert first == second
    assert OutboxEvent.objects.get(pk=first).payload == {"n": 1}


def test_e2_keys_that_differ_in_what_normalising_drops_stay_apart() -> None:
    first = publish("X", "a", "b", idempotency_key="v1.2")
    assert first != publish("X", "a", "b", idempotency_key="v12")


def test_a_time_can_be_given() -> None:
    event_id = publish("X", "a", "b", available_at=LATER)
    assert OutboxEvent.objects.get(pk=event_id).available_at == LATER


def test_an_empty_name_is_refused() -> None:
    with pytest.raises(errors.IncompleteEvent):
        publish("X", "a", "  ")


@pytest.mark.django_db(transaction=True)
def test_publishing_outside_a_transaction_needs_to_be_said() -> None:
    with pytest.raises(errors.NoTransaction):
        publish("X", "a", "b")
    assert publish("X", "a", "b", outside_transaction=True)


@pytest.mark.django_db(transaction=True)
def test_e4_a_rolled_back_change_leaves_no_event() -> None:
    with transaction.atomic():
        publish("X", "a", "b")
        transaction.set_rollback(True)
    assert not OutboxEvent.objects.exists()


def test_many_events_take_few_statements(django_assert_max_num_queries: Any) -> None:
    events = [NewEvent("X", "a", str(number), {"n": number}) for number in range(1200)]
    with django_assert_max_num_queries(3):
        assert publish_many(events) == 1200
    assert OutboxEvent.objects.count() == 1200


def test_e9_a_switched_off_aggregate_is_held_visibly_and_released_later() -> None:
    set_flag("enable_domain_event_outbox", actor="ana", is_enabled=False)
    flag_cache.refresh(force=True)
    event_id = publish("X", "a", "b")
    held = OutboxEvent.objects.get(pk=event_id)
    assert hold_reason(held, paused=()) == "enable_domain_event_outbox"
    assert release_held() == 0
    set_flag("enable_domain_event_outbox", actor="ana", is_enabled=True)
    flag_cache.refresh(force=True)
    assert release_held() >= 1
    assert hold_reason(OutboxEvent.objects.get(pk=event_id), paused=()) == ""


def test_a_change_of_a_flag_is_published_with_it() -> None:
    set_flag("new_checkout", actor="ana", rollout_percent=5)
    event = OutboxEvent.objects.get(event_type="FLAG_CHANGED", aggregate_id="new_checkout")
    assert event.payload["after"]["rollout_percent"] == 5
    assert event.payload["actor"] == "ana"


def test_the_payload_is_stored_compactly() -> None:
    event_id = publish("X", "a", "b", {"k": [1, 2]})
    with connection.cursor() as cursor:
        cursor.execute("SELECT payload FROM domain_event_outbox WHERE id = %s", [event_id])
        stored = cursor.fetchone()[0]
    # PostgreSQL keeps JSON parsed and writes it out in its own way.
    assert stored == ('{"k": [1, 2]}' if connection.vendor == "postgresql" else '{"k":[1,2]}')
