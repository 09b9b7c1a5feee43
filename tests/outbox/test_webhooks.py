"""Subscribers get signed CloudEvents, again when they fail, and in order if they ask for it."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from apps.outbox import errors, handlers, registry
from apps.outbox.models import (
    OutboxDeadLetter,
    OutboxEvent,
    WebhookAttempt,
    WebhookSubscription,
)
from apps.outbox.services import drain, publish, webhook_delivery, webhooks
from tests.outbox.subscriber import Subscriber, subscriber

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _webhook_handlers(_own_handlers: None, settings: Any) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    registry.handles("*", only_if=handlers._wanted)(handlers.fan_out)
    ordered = registry.handles("*", ordered=True, only_if=handlers._wanted_in_order)
    ordered(handlers.fan_out_in_order)
    registry.handles(webhooks.DELIVERY)(handlers.deliver)
    registry.handles(webhooks.ORDERED_DELIVERY, ordered=True)(handlers.deliver_in_order)


@pytest.fixture
def target() -> Iterator[Subscriber]:
    with subscriber() as listening:
        yield listening


def subscribe(target: Subscriber, *types: str, is_ordered: bool = False) -> WebhookSubscription:
    return webhooks.subscribe("shop", target.url, types, actor="ana", is_ordered=is_ordered)


def drain_all() -> None:
    """Drain without waiting for delays, as often as events become due."""
    for _round in range(6):
        webhooks.subscription_cache.clear()
        waiting = OutboxEvent.objects.filter(status="pending")
        waiting.update(available_at=datetime(2026, 1, 1, tzinfo=UTC))
        drain(5)


def test_a_subscriber_gets_signed_cloud_events_of_its_types(target: Subscriber) -> None:
    subscription = subscribe(target, "PACK_UPDATED")
    event_id = publish("PACK_UPDATED", "pack", "p1", {"pack_id": "p1", "action": "renamed"})
    publish("OTHER", "pack", "p1")
    drain_all()
    (body,), (headers,) = target.bodies, target.headers
    document = json.loads(body)
    assert (document["id"], document["type"]) == (str(event_id), "pombo.pack_updated.v1")
    assert document["data"] == {"pack_id": "p1", "action": "renamed"}
    assert headers["content-type"] == "application/cloudevents+json"
    assert Webhook(subscription.secret).verify(body, headers) == document
    with pytest.raises(WebhookVerificationError):
        Webhook(subscription.secret).verify(body + b" ", headers)


def test_a_subscriber_of_everything_is_not_told_of_deliveries(target: Subscriber) -> None:
    subscribe(target, "*")
    publish("X", "t", "1")
    drain_all()
    assert len(target.bodies) == 1


def test_a_second_fan_out_makes_no_second_delivery(target: Subscriber) -> None:
    subscribe(target, "X")
    event_id = publish("X", "t", "1")
    drain_all()
    OutboxEvent.objects.filter(pk=event_id).update(status="pending")
    drain_all()
    assert len(target.bodies) == 1


def test_a_refused_event_is_sent_again_under_the_same_id(target: Subscriber) -> None:
    target.statuses = [503, 503]
    subscribe(target, "X")
    publish("X", "t", "1")
    drain_all()
    assert len({headers["webhook-id"] for headers in target.headers}) == 1
    log = WebhookAttempt.objects.order_by("pk").values_list("attempt", "outcome", "status_code")
    assert list(log) == [(1, "refused", 503), (2, "refused", 503), (3, "delivered", 200)]
    assert WebhookSubscription.objects.get().failing_since is None


def test_ordered_deliveries_wait_for_the_one_before(target: Subscriber) -> None:
    target.statuses = [500]
    subscribe(target, "X", is_ordered=True)
    for number in range(3):
        publish("X", "t", "a", {"n": number})
    drain_all()
    assert [json.loads(body)["data"]["n"] for body in target.bodies] == [0, 0, 1, 2]


def test_both_secrets_sign_until_the_former_one_ends(target: Subscriber) -> None:
    former = subscribe(target, "X")
    now = timezone.now()
    fresh = webhooks.rotate_secret(former.pk, now=now)
    assert fresh.secret != former.secret
    webhook_delivery.send_test(former.pk, now=now)
    for secret in (former.secret, fresh.secret):
        Webhook(secret).verify(target.bodies[0], target.headers[0])
    webhook_delivery.send_test(former.pk, now=now + timedelta(hours=25))
    assert target.headers[1]["webhook-signature"].count("v1,") == 1


def test_gone_switches_the_subscription_off_with_notice(target: Subscriber) -> None:
    target.statuses = [410]
    subscribe(target, "X")
    publish("X", "t", "1")
    drain_all()
    subscription = WebhookSubscription.objects.get()
    assert (subscription.is_active, subscription.disabled_reason) == (False, "410 Gone")
    assert OutboxEvent.objects.filter(event_type="WEBHOOK_DISABLED").count() == 1
    assert OutboxDeadLetter.objects.get().event_type == "WEBHOOK_DELIVERY"


def test_long_failure_switches_off_and_switching_on_forgets_it(target: Subscriber) -> None:
    subscription = subscribe(target, "X")
    now = timezone.now()
    webhook_delivery.note_failure(subscription.pk, is_gone=False, now=now)
    webhook_delivery.note_failure(subscription.pk, is_gone=False, now=now + timedelta(hours=119))
    assert WebhookSubscription.objects.get().is_active
    webhook_delivery.note_failure(subscription.pk, is_gone=False, now=now + timedelta(hours=120))
    assert not WebhookSubscription.objects.get().is_active
    mended = webhooks.change_subscription(subscription.pk, is_active=True)
    assert (mended.failing_since, mended.disabled_reason) == (None, "")


def test_a_private_address_is_logged_as_forbidden(target: Subscriber, settings: Any) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = []
    subscription = subscribe(target, "X")
    attempt = webhook_delivery.send_test(subscription.pk, now=timezone.now())
    assert (attempt.outcome, attempt.status_code) == ("forbidden", None)
    assert target.bodies == []


def test_events_can_be_replayed(target: Subscriber) -> None:
    subscription = subscribe(target, "X")
    event_id = publish("X", "t", "1")
    drain_all()
    assert webhooks.replay(subscription.pk, [event_id, 10**9]) == [event_id]
    drain_all()
    assert [json.loads(body)["id"] for body in target.bodies] == [str(event_id)] * 2


def test_a_name_is_taken_once(target: Subscriber) -> None:
    subscribe(target, "X")
    with pytest.raises(errors.WebhookNameTaken):
        subscribe(target, "X")
