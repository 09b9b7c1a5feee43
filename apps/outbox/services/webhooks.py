"""Webhooks: who subscribes, and how an event becomes one request for each subscriber.

An event fans out into one delivery event for each subscription, under a key, so that running it
twice makes no second one. Deliveries are events like others: retries, dead letters, redrive, pause
and metrics are the outbox's own.
"""

import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from apps.outbox import errors, signing
from apps.outbox.events import Event
from apps.outbox.models import OutboxEvent, WebhookSubscription
from apps.outbox.registry import ANY_TYPE
from apps.outbox.services.publishing import publish

DELIVERY, ORDERED_DELIVERY = "WEBHOOK_DELIVERY", "WEBHOOK_DELIVERY_ORDERED"
DELIVERY_TYPES = frozenset({DELIVERY, ORDERED_DELIVERY})
DELIVERY_ATTEMPTS = 12
DELIVERY_PRIORITY = 40
# Both secrets sign for so long after a rotation.
ROTATION_OVERLAP = timedelta(hours=24)
# New and changed subscriptions are seen by every worker after at most so long.
CACHE_SECONDS = 5.0
MAX_REPLAYED = 1000


class SubscriptionCache:
    """Which subscriptions want which types: asked for every event, read every few seconds."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, bool, frozenset[str]]] = []
        self._until = 0.0

    def clear(self) -> None:
        """Read again at the next question."""
        self._until = 0.0

    def wanting(self, event_type: str, *, is_ordered: bool) -> list[int]:
        """The ids of active subscriptions of the kind that want the type; none wants deliveries."""
        if time.monotonic() >= self._until:
            self._read()
        if not self._rows or event_type in DELIVERY_TYPES:
            return []
        return [
            pk
            for pk, ordered, types in self._rows
            if ordered == is_ordered and (event_type in types or ANY_TYPE in types)
        ]

    def _read(self) -> None:
        active = WebhookSubscription.objects.filter(is_active=True).order_by("pk")
        rows = active.values_list("pk", "is_ordered", "event_types")
        self._rows = [(pk, ordered, frozenset(types)) for pk, ordered, types in rows]
        self._until = time.monotonic() + CACHE_SECONDS


subscription_cache = SubscriptionCache()


@transaction.atomic
def subscribe(
    name: str, url: str, event_types: Sequence[str], *, actor: str, is_ordered: bool = False
) -> WebhookSubscription:
    """Make a subscription with a fresh secret. Raises WebhookNameTaken."""
    _require_free_name(name)
    subscription = WebhookSubscription.objects.create(
        name=name,
        url=url,
        event_types=sorted(set(event_types)),
        is_ordered=is_ordered,
        secret=signing.new_secret(),
        created_by=actor,
    )
    transaction.on_commit(subscription_cache.clear)
    return subscription


@transaction.atomic
def change_subscription(subscription_id: int, **changes: Any) -> WebhookSubscription:
    """Change name, url, event types, order or activity; switching it on forgets old failures.

    Raises WebhookNotFound, WebhookNameTaken.
    """
    subscription = lock_subscription(subscription_id)
    if "name" in changes:
        _require_free_name(changes["name"], except_id=subscription_id)
    for column, value in changes.items():
        setattr(subscription, column, value)
    if changes.get("is_active"):
        subscription.disabled_reason, subscription.failing_since = "", None
    subscription.save()
    transaction.on_commit(subscription_cache.clear)
    return subscription


def unsubscribe(subscription_id: int) -> None:
    """Delete a subscription with its log; deliveries on their way become dead letters."""
    WebhookSubscription.objects.filter(pk=subscription_id).delete()
    subscription_cache.clear()


@transaction.atomic
def rotate_secret(subscription_id: int, *, now: datetime) -> WebhookSubscription:
    """Give a fresh secret; the former one signs too for a day. Raises WebhookNotFound."""
    subscription = lock_subscription(subscription_id)
    subscription.former_secret = subscription.secret
    subscription.former_secret_until = now + ROTATION_OVERLAP
    subscription.secret = signing.new_secret()
    subscription.save(update_fields=["secret", "former_secret", "former_secret_until"])
    return subscription


def lock_subscription(subscription_id: int) -> WebhookSubscription:
    """The subscription, locked until the transaction ends. Raises WebhookNotFound."""
    found = WebhookSubscription.objects.select_for_update().filter(pk=subscription_id).first()
    if found is None:
        raise errors.WebhookNotFound(subscription_id)
    return found


# -- from events to deliveries


@transaction.atomic
def fan_out(event: Event, *, is_ordered: bool) -> None:
    """Publish one delivery for each subscription of the kind that wants the event."""
    for subscription_id in subscription_cache.wanting(event.event_type, is_ordered=is_ordered):
        key = f"webhook:{subscription_id}:{event.id}"
        _publish_delivery(subscription_id, event, is_ordered=is_ordered, key=key)


@transaction.atomic
def replay(subscription_id: int, event_ids: Sequence[int]) -> list[int]:
    """Send events once more to one subscription, in id order; tells which ones still exist.

    Raises WebhookNotFound; at most 1,000 ids at once.
    """
    subscription = lock_subscription(subscription_id)
    chosen = list(OutboxEvent.objects.filter(pk__in=event_ids[:MAX_REPLAYED]).order_by("pk"))
    for event in chosen:
        _publish_delivery(subscription_id, event, is_ordered=subscription.is_ordered, key=None)
    return [event.pk for event in chosen]


def _publish_delivery(
    subscription_id: int, event: Event | OutboxEvent, *, is_ordered: bool, key: str | None
) -> None:
    payload: Mapping[str, Any] = {"subscription_id": subscription_id, "event_id": event.id}
    publish(
        ORDERED_DELIVERY if is_ordered else DELIVERY,
        "webhook",
        f"{subscription_id}:{event.aggregate_type}:{event.aggregate_id}",
        payload,
        priority=DELIVERY_PRIORITY,
        idempotency_key=key,
        max_attempts=DELIVERY_ATTEMPTS,
    )


def _require_free_name(name: str, *, except_id: int = 0) -> None:
    if WebhookSubscription.objects.filter(name=name).exclude(pk=except_id).exists():
        raise errors.WebhookNameTaken(name)
