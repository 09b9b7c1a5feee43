"""The outbox's own handlers: events become deliveries, and deliveries requests."""

from django.utils import timezone

from apps.outbox.events import Event
from apps.outbox.registry import ANY_TYPE, handles
from apps.outbox.retry import RetryPolicy
from apps.outbox.services import webhook_delivery, webhooks

# 5 s, 20 s, 80 s … at most 6 h: twelve attempts within two days and a half.
DELIVERY_RETRY = RetryPolicy(base_seconds=5, factor=4, cap_seconds=6 * 3600)
REQUEST_SECONDS = 20


def _wanted(event: Event) -> bool:
    return bool(webhooks.subscription_cache.wanting(event.event_type, is_ordered=False))


def _wanted_in_order(event: Event) -> bool:
    return bool(webhooks.subscription_cache.wanting(event.event_type, is_ordered=True))


@handles(ANY_TYPE, only_if=_wanted)
def fan_out(event: Event) -> None:
    """One delivery for each subscription without order."""
    webhooks.fan_out(event, is_ordered=False)


@handles(ANY_TYPE, ordered=True, on_dead="skip", only_if=_wanted_in_order)
def fan_out_in_order(event: Event) -> None:
    """One delivery for each ordered subscription, by id within an aggregate."""
    webhooks.fan_out(event, is_ordered=True)


@handles(webhooks.DELIVERY, retry=DELIVERY_RETRY, timeout_seconds=REQUEST_SECONDS)
def deliver(delivery: Event) -> None:
    """Send one event to one subscriber."""
    webhook_delivery.deliver(delivery, now=timezone.now())


@handles(
    webhooks.ORDERED_DELIVERY, ordered=True, retry=DELIVERY_RETRY, timeout_seconds=REQUEST_SECONDS
)
def deliver_in_order(delivery: Event) -> None:
    """Send one event after those of its aggregate before it; a dead one blocks those behind it."""
    webhook_delivery.deliver(delivery, now=timezone.now())
