"""Readiness and figures tell an operator whether events flow."""

from datetime import UTC, datetime

import pytest
from django.test import Client

from apps.flags.services import flag_cache, set_flag
from apps.outbox.models import OutboxEvent
from apps.outbox.services import drain, publish

pytestmark = pytest.mark.django_db


def test_an_overdue_event_makes_the_platform_unready(client: Client) -> None:
    event_id = publish("X", "t", "1")
    assert client.get("/health/ready").status_code == 200
    OutboxEvent.objects.filter(pk=event_id).update(available_at=datetime(2026, 1, 1, tzinfo=UTC))
    answer = client.get("/health/ready")
    assert answer.status_code == 503
    assert "is a worker running?" in answer.json()["checks"]["outbox"]["reason"]


def test_the_broker_is_asked(client: Client) -> None:
    checks = client.get("/health/ready").json()["checks"]
    assert checks["broker"]["ok"] is True
    assert checks["broker"]["waiting"] == 0


def test_w8_depth_age_and_outcomes_are_exported_by_type(client: Client) -> None:
    publish("SHOWN", "t", "1")
    before = client.get("/metrics").content.decode()
    assert 'pombo_outbox_depth{event_type="SHOWN",status="pending"} 1.0' in before
    drain(5)
    after = client.get("/metrics").content.decode()
    assert 'pombo_outbox_events_total{event_type="SHOWN",outcome="completed"} 1.0' in after
    assert "pombo_outbox_oldest_due_seconds 0.0" in after


def test_held_events_are_counted_apart(client: Client) -> None:
    set_flag("enable_domain_event_outbox", actor="ana", is_enabled=False)
    flag_cache.refresh(force=True)
    publish("KEPT", "t", "1")
    shown = client.get("/metrics").content.decode()
    assert 'pombo_outbox_depth{event_type="KEPT",status="held"} 1.0' in shown
    set_flag("enable_domain_event_outbox", actor="ana", is_enabled=True)
    flag_cache.refresh(force=True)
