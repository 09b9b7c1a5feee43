"""The operator sees at one glance what flows, what waits and what fails."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.outbox.dashboard import dashboard, percentile
from apps.outbox.errors import Cancelled
from apps.outbox.events import Event
from apps.outbox.registry import handles
from apps.outbox.services import drain, pause_type, publish, timings

pytestmark = pytest.mark.django_db


def make_traffic(count: int) -> None:
    @handles("BROKEN")
    def broken(event: Event) -> None:
        raise Cancelled("no such pack")

    pause_type("PAUSED", actor="ana", reason="target is down")
    for number in range(count):
        for event_type in ("FINE", "BROKEN", "PAUSED"):
            publish(event_type, "t", str(number))
    drain(5)
    timings.note()


def test_figures_tell_what_flows_waits_and_fails() -> None:
    make_traffic(5)
    figures = dashboard(now=timezone.now())
    assert figures.per_minute == 1
    assert [(row.event_type, row.dead) for row in figures.failing] == [("BROKEN", 5)]
    assert "no such pack" in figures.failing[0].last_error
    assert [(row.event_type, row.count) for row in figures.latency] == [("FINE", 5)]
    assert figures.paused == ["PAUSED"]
    assert (len(figures.minutes), figures.minutes[-1].count) == (30, 5)
    (broken,) = figures.handlers
    assert (broken.handler.rpartition(".")[2], broken.calls) == ("broken", 5)
    assert 0 < broken.median_ms <= broken.p95_ms <= broken.p99_ms


def test_the_number_of_queries_does_not_grow(
    django_assert_max_num_queries: Callable[..., Any],
) -> None:
    make_traffic(30)
    with django_assert_max_num_queries(7):
        dashboard(now=timezone.now())


def test_the_page_shows_them(admin_client: Client) -> None:
    make_traffic(1)
    shown = admin_client.get(reverse("admin:outbox_dashboard")).content.decode()
    assert "no such pack" in shown
    assert "data-live" in shown


def test_staff_without_the_right_are_refused(client: Client, django_user_model: Any) -> None:
    client.force_login(django_user_model.objects.create_user("eva", is_staff=True))
    assert client.get(reverse("admin:outbox_dashboard")).status_code == 403


@pytest.mark.parametrize(("share", "expected"), [(0, 1), (0.5, 3), (0.95, 4), (1, 4)])
def test_percentiles_are_by_nearest_rank(share: float, expected: float) -> None:
    assert percentile([1, 2, 3, 4], share) == expected
