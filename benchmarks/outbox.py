"""How fast the outbox drains and publishes, beside the plain driver in the same run.

    .venv/bin/python -m benchmarks.outbox [--runs 3] [--backlogs 1000 20000] [--urls URL ...]

For each database: events per second of one worker with a handler that does nothing, the same three
statements a batch through the driver alone (the floor), and rows per second of publishing beside a
plain `executemany`. Databases are made for the run and dropped after it.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BATCH = 500
PUBLISH_ROWS = 5000
DEFAULT_URLS = (
    "mysql://root@127.0.0.1:3306/pombo_bench",
    "postgres://postgres@127.0.0.1:5432/pombo_bench",
    "sqlite",
)


def main() -> None:
    """Run each database in a process of its own and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--backlogs", type=int, nargs="+", default=[1000, 20_000])
    parser.add_argument("--urls", nargs="+", default=list(DEFAULT_URLS))
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        print(json.dumps(measure(options.runs, options.backlogs)))
        return
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, {time.ctime()}")
    for url in options.urls:
        with tempfile.TemporaryDirectory() as folder:
            report(url, run_inside(url, folder, options))


def run_inside(url: str, folder: str, options: argparse.Namespace) -> dict[str, float]:
    """Measure in a fresh process whose Django uses that database."""
    address = f"sqlite:///{folder}/bench.sqlite3" if url == "sqlite" else url
    environment = os.environ | {"DATABASE_URL": address, "DEBUG": "false", "SECRET_KEY": "bench"}
    environment |= {"LOG_LEVEL": "ERROR", "ENV_FILE": os.devnull}
    command = [sys.executable, "-m", "benchmarks.outbox", "--inside", "--runs", str(options.runs)]
    command += ["--backlogs", *map(str, options.backlogs)]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True
    )
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def report(url: str, figures: dict[str, float]) -> None:
    """A line for each figure."""
    print(f"\n{url.rsplit('@', maxsplit=1)[-1]}")
    for name, value in figures.items():
        print(f"  {name:<44}{value:>12,.2f}")


def measure(runs: int, backlogs: list[int]) -> dict[str, float]:
    """All figures of the default database; medians over the runs."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    create_database()
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    figures: dict[str, float] = {}
    for backlog in backlogs:
        ours = median(runs, lambda n=backlog: drain_rate(n))
        floor = median(runs, lambda n=backlog: floor_rate(n))
        figures[f"drain of {backlog:,}, events/s"] = ours
        figures[f"  floor of {backlog:,}, events/s"] = floor
        figures["  ours / floor"] = ours / floor
    figures["publish_many, rows/s"] = ours = median(runs, publish_rate)
    figures["  plain executemany, rows/s"] = floor = median(runs, executemany_rate)
    figures["  ours / executemany"] = ours / floor
    figures["publish one in a transaction, microseconds"] = median(runs, publish_cost)
    drop_database()
    return figures


def median(runs: int, figure: Callable[[], float]) -> float:
    """The median of several runs of a measurement."""
    return statistics.median(figure() for _run in range(runs))


def drain_rate(backlog: int) -> float:
    """Events per second of one worker."""
    from apps.outbox import registry, services

    for handler in registry.registered():
        registry.forget(handler.name)
    registry.handles("BENCH")(do_nothing)
    fill(backlog)
    started = time.perf_counter()
    report_ = services.drain(600, BATCH)
    elapsed = time.perf_counter() - started
    if report_.completed != backlog:
        raise SystemExit(f"{backlog - report_.completed} events were not completed")
    return backlog / elapsed


def do_nothing(event: object) -> None:
    """The handler."""


def floor_rate(backlog: int) -> float:
    """The same three statements a batch, through the driver."""
    from django.db import connection, transaction

    from apps.common.dialects import dialect

    fill(backlog)
    sql = dialect()
    started = time.perf_counter()
    with connection.cursor() as wrapped:
        while True:
            with transaction.atomic():
                wrapped.execute(
                    "SELECT id, event_type, payload FROM domain_event_outbox"
                    " WHERE status = 'pending' AND priority = 50"
                    f" AND available_at <= {sql.now}"
                    f" ORDER BY available_at, id LIMIT {BATCH} {sql.skip_locked}"
                )
                ids = [row[0] for row in wrapped.fetchall()]
                if not ids:
                    break
                marks = ", ".join(["%s"] * len(ids))
                wrapped.execute(
                    "UPDATE domain_event_outbox SET status = 'processing', worker_token = 'x',"
                    f" locked_at = {sql.now}, attempts = attempts + 1 WHERE id IN ({marks})",
                    ids,
                )
            wrapped.execute(
                "UPDATE domain_event_outbox SET status = 'completed', worker_token = NULL,"
                f" processed_at = {sql.now} WHERE id IN ({marks}) AND worker_token = 'x'",
                ids,
            )
    return backlog / (time.perf_counter() - started)


def fill(backlog: int) -> None:
    """A table that holds exactly so many pending events."""
    from django.db import connection

    from apps.outbox.events import NewEvent
    from apps.outbox.services import publish_many

    # A fresh connection: one that has been idle beside a million rows was found closed.
    connection.close()
    empty = "DELETE FROM" if connection.vendor == "sqlite" else "TRUNCATE TABLE"
    with connection.cursor() as cursor:
        cursor.execute(f"{empty} domain_event_outbox")
    events = [NewEvent("BENCH", "thing", str(n), {"n": n}) for n in range(backlog)]
    publish_many(events, outside_transaction=True)


def publish_rate() -> float:
    """Rows per second of publish_many in one transaction."""
    from django.db import transaction

    from apps.outbox.events import NewEvent
    from apps.outbox.services import publish_many

    events = [NewEvent("BENCH", "thing", str(n), {"n": n}) for n in range(PUBLISH_ROWS)]
    started = time.perf_counter()
    with transaction.atomic():
        publish_many(events)
    return PUBLISH_ROWS / (time.perf_counter() - started)


def executemany_rate() -> float:
    """Rows per second of the same rows through executemany."""
    from django.db import connection, transaction

    rows = [("BENCH", "thing", str(n), json.dumps({"n": n}), 50, 10) for n in range(PUBLISH_ROWS)]
    started = time.perf_counter()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO domain_event_outbox (event_type, aggregate_type, aggregate_id, payload,"
            " priority, max_attempts) VALUES (%s, %s, %s, %s, %s, %s)",
            rows,
        )
    return PUBLISH_ROWS / (time.perf_counter() - started)


def publish_cost() -> float:
    """Microseconds of one publish inside a transaction that stays open."""
    from django.db import transaction

    from apps.outbox.services import publish

    count = 500
    with transaction.atomic():
        started = time.perf_counter()
        for number in range(count):
            publish("BENCH", "thing", str(number), {"n": number})
        elapsed = time.perf_counter() - started
        transaction.set_rollback(True)
    return elapsed / count * 1e6


def create_database() -> None:
    """Make the database of the run anew; SQLite makes its own file."""
    on_server("DROP DATABASE IF EXISTS {0}", "CREATE DATABASE {0}")


def drop_database() -> None:
    """Leave nothing behind."""
    from django.db import connection

    connection.close()
    on_server("DROP DATABASE {0}")


def on_server(*statements: str) -> None:
    """Run statements on the server, outside transactions, with the database's name filled in."""
    import environ
    import MySQLdb
    import psycopg

    config = environ.Env.db_url_config(os.environ["DATABASE_URL"])
    address = {"host": config["HOST"], "user": config["USER"], "password": config["PASSWORD"]}
    if config["ENGINE"].endswith("mysql"):
        link = MySQLdb.connect(**address, port=int(config["PORT"] or 3306), autocommit=True)
    elif config["ENGINE"].endswith("postgresql"):
        port = int(config["PORT"] or 5432)
        link = psycopg.connect(**address, port=port, dbname="postgres", autocommit=True)
    else:
        return
    for statement in statements:
        link.cursor().execute(statement.format(config["NAME"]))
    link.close()


if __name__ == "__main__":
    main()
