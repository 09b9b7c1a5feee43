"""The daily check: every counter against its events, closed periods settled, tasks that run it."""

import json
from datetime import UTC, datetime, timedelta
from io import StringIO
from itertools import count

import pytest
from django.core.management import CommandError, call_command
from prometheus_client import REGISTRY

from apps.delivery import tasks
from apps.delivery.errors import UsageEventsPruned
from apps.delivery.models import UsageEvent, UsageReservation, UsageTotal
from apps.delivery.services import usage_pruning
from apps.delivery.services.usage import (
    Ask,
    check_totals,
    ingest,
    prune_events,
    recompute,
    reserve,
)
from apps.delivery.usage_queries import invoice_of
from config.schedules import SCHEDULES

from .rows import make_app
from .usage_rows import NOW, PERIOD, make_metric, report, total

pytestmark = pytest.mark.django_db
CLOSED = datetime(2026, 4, 4, tzinfo=UTC)
ADDON = {"on_limit": "auto_addon", "overage_mode": "unit", "price_minor": 3}


def test_every_counter_is_checked_once_a_day() -> None:
    make_metric()
    ingest([report(quantity=5)], now=NOW)
    UsageTotal.objects.update(used=1)
    found = check_totals(now=NOW, max_seconds=60)
    assert (found.checked_count, found.corrected_count) == (1, 1)
    assert total().used == 5
    assert check_totals(now=NOW + timedelta(hours=1), max_seconds=60).checked_count == 0
    assert check_totals(now=NOW + timedelta(hours=21), max_seconds=60).checked_count == 1


def test_a_check_stops_in_time_and_goes_on_with_the_rest() -> None:
    app = make_app()
    for number in range(5):
        make_metric(app, f"m{number}")
        ingest([report(metric_code=f"m{number}")], now=NOW)
    ticks = count()
    first = check_totals(now=NOW, max_seconds=3, clock=lambda: float(next(ticks)))
    rest = check_totals(now=NOW, max_seconds=60)
    assert (first.checked_count, rest.checked_count) == (2, 3)


def test_a_closed_period_keeps_the_terms_of_its_plan() -> None:
    metric = make_metric(included=10, **ADDON)
    ingest([report(quantity=12)], now=NOW)
    limits = metric.app.plan.limits
    limits.update(price_minor=5)
    assert invoice_of(metric.app, total().period, now=NOW).total_minor == 10
    assert check_totals(now=CLOSED - timedelta(seconds=1), max_seconds=60).settled_count == 0
    assert check_totals(now=CLOSED + timedelta(days=1), max_seconds=60).settled_count == 1
    limits.update(price_minor=1000)
    invoice = invoice_of(metric.app, total().period, now=CLOSED)
    assert (invoice.total_minor, invoice.is_final) == (10, True)


def test_a_period_without_limit_stays_free_when_a_limit_comes_later() -> None:
    metric = make_metric()
    ingest([report(quantity=12)], now=NOW)
    check_totals(now=CLOSED, max_seconds=60)
    make_metric(make_app("blog", plan=metric.app.plan), "orders", included=0, **ADDON)
    assert invoice_of(metric.app, total().period, now=CLOSED).total_minor == 0


def test_the_tasks_are_scheduled_and_run() -> None:
    make_metric(included=10, on_limit="block")
    reserve(Ask("loja", "orders", "r1", 4, 60), now=NOW - timedelta(days=365))
    tasks.expire_reservations()
    tasks.check_usage_totals()
    assert UsageReservation.objects.get().status == "expired"
    assert total().checked_at is not None
    scheduled = {item.func for item in SCHEDULES}
    assert {
        "apps.delivery.tasks.expire_reservations",
        "apps.delivery.tasks.check_usage_totals",
    } <= scheduled


def test_a_rehearsal_tells_and_changes_nothing() -> None:
    make_metric()
    ingest([report(quantity=5)], now=NOW)
    UsageTotal.objects.update(used=1)
    assert recompute("loja", "orders", PERIOD, now=NOW, is_rehearsal=True).is_corrected
    assert total().used == 1


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("usage", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_shows_counters_and_invoices() -> None:
    make_metric(included=10, **ADDON)
    ingest([report(quantity=12)], now=NOW)
    assert json.loads(run("status", "--json"))[0]["percent"] == 120
    assert "120 %" in run("status", "--app", "loja", "--period", PERIOD)
    invoice = json.loads(run("invoice", "loja", "--period", PERIOD, "--json"))
    assert invoice["total_minor"] == 6
    assert "0.06 BRL" in run("invoice", "loja", "--period", PERIOD)
    with pytest.raises(CommandError):
        run("invoice", "nope")


def test_the_command_mends_counters_and_says_so_by_its_code() -> None:
    make_metric()
    ingest([report(quantity=5)], now=NOW)
    assert "0 of 1" in run("recompute", "--app", "loja")
    UsageTotal.objects.update(used=1)
    for arguments, used in ((("--dry-run",), 1), ((), 5)):
        with pytest.raises(CommandError, match="1 of 1"):
            run("recompute", *arguments)
        assert total().used == used
    assert json.loads(run("recompute", "--json"))["reports"] == []


def test_the_command_issues_a_token_for_an_app() -> None:
    make_metric()
    assert run("token", "loja").startswith("pombo_")
    with pytest.raises(CommandError):
        run("token", "loja", "--scope", "nope:read")


def test_prometheus_learns_what_became_of_events() -> None:
    def figure(name: str, **labels: str) -> float:
        return REGISTRY.get_sample_value(name, labels) or 0.0

    make_metric()
    names = ("accepted", "duplicate", "invalid_quantity")
    before = [figure("pombo_usage_events_total", outcome=name) for name in names]
    corrected = figure("pombo_usage_counters_corrected_total")
    ingest([report("a"), report("a"), report("b"), report("c", -1)], now=NOW)
    UsageTotal.objects.update(used=99)
    check_totals(now=NOW, max_seconds=60)
    after = [figure("pombo_usage_events_total", outcome=name) for name in names]
    assert [b - a for a, b in zip(before, after, strict=True)] == [2, 1, 1]
    assert figure("pombo_usage_counters_corrected_total") - corrected == 1


def test_old_events_go_and_their_counter_stays() -> None:
    make_metric(included=10, **ADDON)
    april = NOW + timedelta(days=31)
    ingest([report(f"e{number}", 2) for number in range(9)], now=NOW)
    ingest([report("fresh", 1, occurred_at=april)], now=april)
    later, keep = NOW + timedelta(days=60), timedelta(days=50)
    assert prune_events(now=later, keep=keep, max_seconds=60) == 0  # not settled
    check_totals(now=later, max_seconds=60)
    assert prune_events(now=later, keep=keep, max_seconds=60) == 9
    assert prune_events(now=later, keep=keep, max_seconds=60) == 0
    assert list(UsageEvent.objects.values_list("event_id", flat=True)) == ["fresh"]
    assert UsageTotal.objects.get(period=PERIOD).used == 18
    with pytest.raises(UsageEventsPruned):
        recompute("loja", "orders", PERIOD, now=later)
    assert check_totals(now=later + timedelta(days=1), max_seconds=60).corrected_count == 0
    assert "0 of 1" in run("recompute")
    tasks.prune_usage_events()


def test_pruning_stops_in_time_and_is_carried_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage_pruning, "DELETE_BATCH", 2)
    make_metric()
    ingest([report(f"e{number}") for number in range(5)], now=NOW)
    later, keep = NOW + timedelta(days=60), timedelta(days=40)
    check_totals(now=later, max_seconds=60)
    ticks = count()
    first = prune_events(now=later, keep=keep, max_seconds=2, clock=lambda: float(next(ticks)))
    assert (first, total().used) == (2, 5)
    assert prune_events(now=later, keep=keep, max_seconds=60) == 3
