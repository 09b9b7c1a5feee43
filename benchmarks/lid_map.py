"""Learning and resolving LIDs in batches, per second, beside plain statements of the same size.

Run with `python benchmarks/lid_map.py [--lids 100000]`; it works in a test database of its own
beside the one of DATABASE_URL and removes it afterwards.
"""

# ruff: noqa: E402 (Django must be set up before models are imported)

import argparse
import os
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

import django

django.setup()

from django.core.cache import cache
from django.db import connection, transaction

from apps.outbox.models import OutboxEvent
from apps.whatsapp_auth import lid_map
from apps.whatsapp_auth.models import LidHistory, LidMapping
from apps.whatsapp_auth.senders import LidPair

BATCH_SIZE = 800
RUNS = 3


def pairs(count: int) -> list[LidPair]:
    """LIDs with a phone each, none of them alike."""
    return [
        LidPair(
            f"{100_000_000_000_000 + number}@lid", f"{5_511_900_000_000 + number}@s.whatsapp.net"
        )
        for number in range(count)
    ]


def forget_all() -> None:
    """Empty tables and cache."""
    cache.clear()
    for model in (LidMapping, LidHistory, OutboxEvent):
        model.objects.all().delete()


def learn(lesson: list[LidPair]) -> None:
    """First sight: rows, history and an event each."""
    lid_map.learn_many(lesson, source="message")


def learn_again(lesson: list[LidPair]) -> None:
    """The same within the cool-down, answered by the database."""
    cache.clear()
    lid_map.learn_many(lesson, source="message")


def resolve_cold(lesson: list[LidPair]) -> None:
    """Look-ups that the cache cannot answer."""
    cache.clear()
    resolve_warm(lesson)


def resolve_warm(lesson: list[LidPair]) -> None:
    """Look-ups in batches, as the API does them."""
    lids = [pair.lid for pair in lesson]
    for start in range(0, len(lids), BATCH_SIZE):
        answers = lid_map.resolve_many(lids[start : start + BATCH_SIZE])
        if not all(answer.jid for answer in answers.values()):
            raise SystemExit("A LID that was learnt did not resolve.")


def floor_insert(lesson: list[LidPair]) -> None:
    """The same rows by plain multi-row inserts: mapping, history, event."""
    sql = {
        "lid_map (lid, jid, source)": "(%s, %s, 'message')",
        "whatsapp_auth_lid_history (lid, jid, source, valid_from)": (
            "(%s, %s, 'message', CURRENT_TIMESTAMP)"
        ),
        "domain_event_outbox (event_type, aggregate_type, aggregate_id, payload)": (
            "('IDENTITY_RECONCILED', 'whatsapp_identity', %s, %s)"
        ),
    }
    with connection.cursor() as cursor:
        for start in range(0, len(lesson), BATCH_SIZE):
            batch = lesson[start : start + BATCH_SIZE]
            with transaction.atomic():
                for table, row in sql.items():
                    is_event = table.startswith("domain")
                    values = [
                        value
                        for lid, jid in batch
                        for value in (lid, f'{{"jid":"{jid}"}}' if is_event else jid)
                    ]
                    marks = ",".join([row] * len(batch))
                    cursor.execute(f"INSERT INTO {table} VALUES {marks}", values)


def measure(work, lesson, before=None) -> float:
    """Rows per second, the median of a few runs."""
    rates = []
    for _run in range(RUNS):
        if before:
            before()
        start = time.perf_counter()
        work(lesson)
        rates.append(len(lesson) / (time.perf_counter() - start))
    return statistics.median(rates)


def main() -> None:
    """Print one line per figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lids", type=int, default=100_000)
    lesson = pairs(parser.parse_args().lids)
    name = connection.creation.create_test_db(verbosity=0, autoclobber=True)
    try:
        floor = measure(floor_insert, lesson, forget_all)
        first = measure(learn, lesson, forget_all)
        rows = {
            "plain inserts of the same rows (floor)": floor,
            "learn, first sight": first,
            "learn again, within the cool-down": measure(learn_again, lesson),
            "resolve, cold cache": measure(resolve_cold, lesson),
            "resolve, warm cache": measure(resolve_warm, lesson),
        }
        print(f"{connection.vendor}, {len(lesson):,} LIDs, batches of {BATCH_SIZE}")
        for label, rate in rows.items():
            print(f"{label:45} {rate:12,.0f}/s")
        print(f"{'learn against its floor':45} {first / floor:12.0%}")
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)


if __name__ == "__main__":
    main()
