"""Sending one event to one subscriber, and what follows from the answer."""

import ipaddress
import time
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q

from apps.outbox import errors, guarded_http, signing
from apps.outbox.choices import Outcome
from apps.outbox.cloudevents import CONTENT_TYPE, to_cloud_event
from apps.outbox.events import Event
from apps.outbox.models import OutboxEvent, WebhookAttempt, WebhookSubscription
from apps.outbox.services.publishing import publish
from apps.outbox.services.webhooks import lock_subscription, subscription_cache
from apps.outbox.tracing import without_trace

WEBHOOK_DISABLED = "WEBHOOK_DISABLED"
GONE = 410
TEST_EVENT_TYPE = "WEBHOOK_TEST"
MAX_RESPONSE_LENGTH, MAX_ERROR_LENGTH = 500, 255


def deliver(delivery: Event, *, now: datetime) -> None:
    """Send the event that a delivery names.

    Raises DeliveryFailed, so that the outbox tries again; Cancelled when trying again is useless:
    the subscription or the event is gone, or the subscriber says 410 Gone.
    """
    subscription = _active_subscription(int(delivery.payload["subscription_id"]))
    event = _event(int(delivery.payload["event_id"]))
    attempt = send(subscription, event, attempt=delivery.attempts, now=now)
    if attempt.outcome == Outcome.DELIVERED:
        note_success(subscription)
        return
    note_failure(subscription.pk, is_gone=attempt.status_code == GONE, now=now)
    if attempt.status_code == GONE:
        raise errors.Cancelled("the subscriber answered 410 Gone")
    raise errors.DeliveryFailed(attempt.status_code, attempt.error)


def send_test(subscription_id: int, *, now: datetime) -> WebhookAttempt:
    """Send a made-up event at once, without retries; the log shows what was answered.

    Raises WebhookNotFound.
    """
    subscription = WebhookSubscription.objects.filter(pk=subscription_id).first()
    if subscription is None:
        raise errors.WebhookNotFound(subscription_id)
    event = Event(0, TEST_EVENT_TYPE, "webhook", str(subscription_id), {"test": True}, 1, now)
    return send(subscription, event, attempt=1, now=now)


def send(
    subscription: WebhookSubscription, event: Event, *, attempt: int, now: datetime
) -> WebhookAttempt:
    """Make one signed request and write it down, whatever comes of it."""
    body = to_cloud_event(event, source=settings.OUTBOX_EVENT_SOURCE)
    headers = {
        "content-type": CONTENT_TYPE,
        "user-agent": "Pombo webhooks",
        **signing.signed_headers(f"evt_{event.id}", body, _signers(subscription, now), now=now),
    }
    started = time.perf_counter()
    outcome, status_code, response, error = _request(subscription.url, body, headers)
    return WebhookAttempt.objects.create(
        subscription=subscription,
        event_id=event.id,
        event_type=event.event_type,
        attempt=attempt,
        outcome=outcome,
        status_code=status_code,
        duration_ms=round((time.perf_counter() - started) * 1000),
        response=response.replace("\x00", "")[:MAX_RESPONSE_LENGTH],
        error=error[:MAX_ERROR_LENGTH],
        created_at=now,
    )


def _request(
    url: str, body: bytes, headers: dict[str, str]
) -> tuple[Outcome, int | None, str, str]:
    allowed = [ipaddress.ip_network(text) for text in settings.WEBHOOK_ALLOWED_NETWORKS]
    try:
        answer = guarded_http.post(url, body, headers, allowed=allowed)
    except guarded_http.AddressForbidden as error:
        return Outcome.FORBIDDEN, None, "", str(error)
    except guarded_http.Unreachable as error:
        return Outcome.UNREACHABLE, None, "", str(error)
    is_accepted = 200 <= answer.status_code < 300  # noqa: PLR2004 (the range is the name)
    outcome = Outcome.DELIVERED if is_accepted else Outcome.REFUSED
    return outcome, answer.status_code, answer.text, ""


def _signers(subscription: WebhookSubscription, now: datetime) -> list[str]:
    until = subscription.former_secret_until
    former = [subscription.former_secret] if until is not None and now < until else []
    return [subscription.secret, *former]


def note_success(subscription: WebhookSubscription) -> None:
    """An answer ends a time of failure; in the usual case nothing is written."""
    if subscription.failing_since is not None:
        WebhookSubscription.objects.filter(pk=subscription.pk).update(failing_since=None)


@transaction.atomic
def note_failure(subscription_id: int, *, is_gone: bool, now: datetime) -> None:
    """Remember since when it fails; switch it off, with an event, when that is too long ago."""
    subscription = lock_subscription(subscription_id)
    subscription.failing_since = subscription.failing_since or now
    longest = timedelta(hours=settings.WEBHOOK_DISABLE_AFTER_HOURS)
    if is_gone or now - subscription.failing_since >= longest:
        _disable(subscription, "410 Gone" if is_gone else f"failed for {longest}")
    subscription.save(update_fields=["failing_since", "is_active", "disabled_reason"])


def _disable(subscription: WebhookSubscription, reason: str) -> None:
    subscription.is_active, subscription.disabled_reason = False, reason
    payload = {"subscription_id": subscription.pk, "name": subscription.name, "reason": reason}
    publish(WEBHOOK_DISABLED, "webhook_subscription", str(subscription.pk), payload, priority=90)
    transaction.on_commit(subscription_cache.clear)


def _active_subscription(subscription_id: int) -> WebhookSubscription:
    active = Q(pk=subscription_id, is_active=True)
    found = WebhookSubscription.objects.filter(active).first()
    if found is None:
        raise errors.Cancelled("the subscription is switched off or gone")
    return found


def _event(event_id: int) -> Event:
    row = OutboxEvent.objects.filter(pk=event_id).first()
    if row is None:
        raise errors.Cancelled("the event was pruned or discarded")
    payload, trace = without_trace(row.payload or {})
    return Event(
        id=row.pk,
        event_type=row.event_type,
        aggregate_type=row.aggregate_type,
        aggregate_id=row.aggregate_id,
        payload=payload,
        attempts=row.attempts,
        created_at=row.created_at,
        trace=trace,
    )


def prune_attempts(*, older_than_days: int, now: datetime) -> int:
    """Delete attempts past their time; tells how many."""
    old = WebhookAttempt.objects.filter(created_at__lt=now - timedelta(days=older_than_days))
    return old.delete()[0]
