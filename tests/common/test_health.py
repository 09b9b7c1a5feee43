"""Liveness asks nothing; readiness names what is wrong."""

import pytest
from django.test import Client

from apps.common import health, metrics
from apps.common.scopes import Scope

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _own_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_checks", {"database": health.check_database})


def test_live_asks_no_database(client: Client, django_assert_num_queries: object) -> None:
    with django_assert_num_queries(0):  # type: ignore[operator]
        assert client.get("/health/live").json() == {"status": "live"}


def test_ready_shows_each_check(client: Client) -> None:
    answer = client.get("/health/ready")
    assert answer.status_code == 200
    assert answer.json()["checks"]["database"]["ok"] is True


def test_unready_gives_the_reason(client: Client) -> None:
    def overdue() -> dict[str, object]:
        raise health.Unready("The oldest event waits since 10:00.")

    health.register("outbox", overdue)
    answer = client.get("/health/ready")
    assert answer.status_code == 503
    assert answer.json()["checks"]["outbox"]["reason"] == "The oldest event waits since 10:00."


def test_a_check_that_breaks_counts_as_unready(client: Client) -> None:
    health.register("broken", lambda: {"ratio": 1 / 0})
    answer = client.get("/health/ready")
    assert answer.status_code == 503
    assert answer.json()["checks"]["broken"] == {"ok": False, "reason": "ZeroDivisionError"}


def test_metrics_answer_in_prometheus_form(client: Client) -> None:
    answer = client.get("/metrics")
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain")
    assert b"python_info" in metrics.render()


def test_metrics_can_be_closed_to_the_public(
    client: Client, settings: object, api_as: object
) -> None:
    settings.METRICS_PUBLIC = False  # type: ignore[attr-defined]
    assert client.get("/metrics").status_code == 401
    assert api_as(Scope.METRICS_READ).get("/metrics").status_code == 200  # type: ignore[operator]


def test_request_ids_come_back(client: Client) -> None:
    assert (
        client.get("/health/live", headers={"X-Request-Id": "abc-12345"})["X-Request-Id"]
        == "abc-12345"
    )
    assert (
        len(client.get("/health/live", headers={"X-Request-Id": "no\tgood"})["X-Request-Id"]) == 32
    )
