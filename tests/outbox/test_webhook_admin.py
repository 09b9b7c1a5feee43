"""Operators subscribe, try out and rotate in the admin."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.outbox.models import WebhookAttempt, WebhookSubscription
from apps.outbox.services import publish, webhooks
from tests.outbox.subscriber import subscriber

pytestmark = pytest.mark.django_db


def page(name: str, *arguments: Any) -> str:
    return reverse(f"admin:outbox_{name}", args=arguments)


def test_a_new_subscription_shows_its_secret_once(admin_client: Client) -> None:
    form = {
        "name": "shop",
        "url": "https://shop.example/hook",
        "event_types": '["PACK_UPDATED"]',
        "is_active": "on",
    }
    shown = admin_client.post(page("webhooksubscription_add"), form, follow=True)
    made = WebhookSubscription.objects.get()
    assert made.secret in shown.content.decode()
    address = page("webhooksubscription_change", made.pk)
    assert made.secret not in admin_client.get(address).content.decode()
    admin_client.post(address, {**form, "is_active": ""})
    assert not WebhookSubscription.objects.get().is_active


def test_the_test_button_says_what_was_answered(admin_client: Client, settings: Any) -> None:
    settings.WEBHOOK_ALLOWED_NETWORKS = ["127.0.0.0/8"]
    with subscriber() as target:
        made = webhooks.subscribe("shop", target.url, ["X"], actor="ana")
        action = {"action": "send_test", "_selected_action": [made.pk]}
        shown = admin_client.post(page("webhooksubscription_changelist"), action, follow=True)
    assert "200" in shown.content.decode()
    assert len(target.bodies) == 1


def test_the_log_sends_events_again(admin_client: Client) -> None:
    made = webhooks.subscribe("shop", "https://shop.invalid/hook", ["X"], actor="ana")
    event_id = publish("X", "t", "1")
    entry = WebhookAttempt.objects.create(
        subscription=made,
        event_id=event_id,
        event_type="X",
        attempt=1,
        outcome="refused",
        duration_ms=3,
        created_at=made.created_at,
    )
    action = {"action": "replay", "_selected_action": [entry.pk]}
    shown = admin_client.post(page("webhookattempt_changelist"), action, follow=True)
    assert "1 event sent again." in shown.content.decode()
