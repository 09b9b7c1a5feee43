"""Usage events taken in per second, beside plain inserts of the same rows, and reservations.

Run with `python -m benchmarks.usage [--events 20000]`; it works in a test database of its own
beside the one of DATABASE_URL and removes it afterwards.
"""

# ruff: noqa: E402 (Django must be set up before models are imported)

import argparse
import os
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

import django

django.setup()

from django.db import connection, transaction
from rest_framework.test import APIClient

from apps.delivery.models import App, Plan, PlanLimit, UsageEvent, UsageMetric, UsageTotal
from apps.delivery.services.usage import Ask, ingest, recompute, reserve
from apps.delivery.services.usage_accounts import issue_app_token
from apps.delivery.usage.events import UsageReport

NOW = datetime(2026, 3, 15, 12, tzinfo=UTC)
RESERVATIONS = 500


def make_metric() -> UsageMetric:
    """An app whose plan limits its metric, so that every check is at work."""
    plan = Plan.objects.create(code="bench", name="bench")
    app = App.objects.create(code="bench", name="bench", plan=plan, image_repository="bench/x")
    PlanLimit.objects.create(plan=plan, metric_code="orders", included=10**12, on_limit="block")
    return UsageMetric.objects.create(app=app, code="orders", name="Orders")


def reports(start: int, count: int) -> list[UsageReport]:
    """Events that nobody has sent yet."""
    return [
        UsageReport("bench", "orders", f"event-{n}", n % 7, NOW, f"user-{n % 50}")
        for n in range(start, start + count)
    ]


def floor(metric: UsageMetric, total: UsageTotal, batch: list[UsageReport]) -> None:
    """The same rows by the plain driver: one multi-row INSERT and one UPDATE, nothing checked."""
    marks = ",".join(["(%s,%s,%s,%s,%s,%s,%s,%s,%s)"] * len(batch))
    sql = (
        "INSERT INTO delivery_usage_event (metric_id, event_id, digest, quantity, subject,"
        f" period, day, occurred_at, received_at) VALUES {marks}"
    )
    rows: list[object] = []
    for report in batch:
        name, units = report.event_id, report.quantity
        rows += [metric.pk, name, "0" * 32, units, report.subject]
        rows += ["2026-03-01", "2026-03-15", "2026-03-15 12:00:00", "2026-03-15 12:00:00"]
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql, rows)
        cursor.execute(
            "UPDATE delivery_usage_total SET used = used + %s WHERE id = %s",
            [sum(report.quantity for report in batch), total.pk],
        )


def forget() -> None:
    """An empty table and a counter at zero."""
    UsageEvent.objects.all().delete()
    UsageTotal.objects.update(used=0, reserved=0, event_count=0)


def rate(count: int, size: int, take: Callable[[list[UsageReport]], object]) -> float:
    """Events per second, sent in batches of this size."""
    batches = [reports(start, size) for start in range(0, count, size)]
    started = time.perf_counter()
    for batch in batches:
        take(batch)
    return count / (time.perf_counter() - started)


def parallel_rate(count: int, size: int, threads: int) -> float:
    """Events per second of several writers of one counter."""
    shares = [
        [
            reports(start, size)
            for start in range(n * count // threads, (n + 1) * count // threads, size)
        ]
        for n in range(threads)
    ]

    def work(batches: list[list[UsageReport]]) -> None:
        for batch in batches:
            ingest(batch, now=NOW)
        connection.close()

    workers = [threading.Thread(target=work, args=(share,)) for share in shares]
    started = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return count / (time.perf_counter() - started)


def api_rate(app: App, count: int, size: int) -> float:
    """Events per second through view, token, parsing and answer."""
    _token, secret = issue_app_token(app)
    client = APIClient(HTTP_AUTHORIZATION=f"Bearer {secret}", SERVER_NAME="localhost")
    moment = datetime.now(UTC).isoformat()
    bodies = [
        {
            "events": [
                {"metric": "orders", "id": f"api-{n}", "quantity": 1, "occurred_at": moment}
                for n in range(start, start + size)
            ]
        }
        for start in range(0, count, size)
    ]
    started = time.perf_counter()
    for body in bodies:
        answer = client.post("/api/v1/usage/events", body, format="json")
        if answer.json()["accepted"] != size:
            raise SystemExit(f"refused: {answer.json()['results'][0]}")
    return count / (time.perf_counter() - started)


def report_line(what: str, figure: float, unit: str) -> None:
    print(f"| {what} | {figure:,.0f} {unit} |")


def measure(events: int) -> None:
    """All figures, each on an empty table."""
    metric = make_metric()
    ingest(reports(0, 1), now=NOW)
    total = UsageTotal.objects.get()
    for size in (1, 100, 1000):
        count = min(events, 500 * size)
        forget()
        report_line(
            f"plain INSERT and UPDATE, batches of {size} (floor)",
            rate(count, size, lambda batch: floor(metric, total, batch)),
            "events/s",
        )
        forget()
        report_line(f"ingest, batches of {size}", rate(count, size, _ingest), "events/s")
    report_line("the same batches again (duplicates)", rate(events, 1000, _ingest), "events/s")
    if connection.vendor != "sqlite":
        forget()
        report_line(
            "ingest, batches of 500, 4 threads on one counter",
            parallel_rate(events, 500, 4),
            "events/s",
        )
    report_line("over the API, batches of 500", api_rate(metric.app, events, 500), "events/s")
    started = time.perf_counter()
    found = recompute("bench", "orders", "2026-03-01", now=NOW)
    elapsed_ms = (time.perf_counter() - started) * 1000
    if found.is_corrected:
        raise SystemExit(f"the counter was wrong: {found}")
    report_line(f"recompute of {found.event_count:,} events", elapsed_ms, "ms")
    started = time.perf_counter()
    for number in range(RESERVATIONS):
        reserve(Ask("bench", "orders", f"hold-{number}", 1, 60), now=NOW)
    report_line("reserve", RESERVATIONS / (time.perf_counter() - started), "/s")


def _ingest(batch: list[UsageReport]) -> None:
    ingest(batch, now=NOW)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=20_000)
    options = parser.parse_args()
    name = connection.creation.create_test_db(verbosity=0, autoclobber=True)
    print(f"{connection.vendor}, {options.events:,} events\n\n| what | rate |\n|---|---|")
    try:
        measure(options.events)
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)


if __name__ == "__main__":
    main()
