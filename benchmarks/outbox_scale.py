"""Whether the outbox keeps its pace: two workers, a huge backlog, and a huge future.

    .venv/bin/python -m benchmarks.outbox_scale [--events 20000] [--backlog 1000000] [--url URL]

Events per second over at most five seconds, in processes of their own: one worker and two on
`--events` events; one with `--backlog` pending; one with as many more scheduled for tomorrow at the
highest priority; one while as many completed events are pruned. Then the time from commit to the
start of the handler on an idle system, without and with Redis, and the memory of a worker. The
database is made for the run and dropped after it.
"""

import argparse
import os
import statistics
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.outbox import BATCH, create_database, do_nothing, drop_database, fill

ROOT = Path(__file__).resolve().parents[1]
LATENCY_SAMPLES = 40
HIGHEST_PRIORITY = 100
LONGEST_SECONDS = 5
UPDATED_AT_ONCE = 100_000


def main() -> None:
    """Measure and print a line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--backlog", type=int, default=1_000_000)
    parser.add_argument("--url", default="mysql://root@127.0.0.1:3306/pombo_bench_scale")
    parser.add_argument("--redis", default="redis://127.0.0.1:6379/3")
    parser.add_argument("--part", choices=list(PARTS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ |= {"DATABASE_URL": options.url, "DEBUG": "false", "SECRET_KEY": "bench"}
    os.environ |= {"LOG_LEVEL": "ERROR", "ENV_FILE": os.devnull}
    os.environ.setdefault("REDIS_URL", "")
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    if options.part:
        PARTS[options.part]()
    else:
        measure(options.events, options.backlog, options.redis)


def measure(events: int, backlog: int, redis_url: str) -> None:
    """All figures, in one database."""
    import django

    create_database()
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    for workers in (1, 2):
        fill(events)
        show(f"{workers} worker(s), {events:,} pending, events/s", rate(workers))
    fill(backlog)
    show(f"1 worker, {backlog:,} pending, events/s", rate(1))
    fill(events)
    schedule_for_tomorrow(backlog)
    show(f"1 worker, {backlog:,} scheduled for tomorrow, events/s", rate(1))
    show_pruning(events, backlog)
    fill(0)
    for name, url in {"without Redis": "", "with Redis": redis_url}.items():
        median, p95 = map(float, start("latency", REDIS_URL=url).communicate()[0].split())
        show(f"commit to start {name}, median ms", median)
        show(f"commit to start {name}, p95 ms", p95)
    drop_database()


def show(name: str, value: float) -> None:
    """One line."""
    print(f"{name:<56}{value:>12,.1f}", flush=True)


def rate(workers: int) -> float:
    """Events per second over at most some seconds, by processes that start together."""
    running = [start("work") for _number in range(workers)]
    for process in running:
        process.stdout.readline()  # it is ready
    started = time.perf_counter()
    for process in running:
        process.stdin.write("go\n")
        process.stdin.flush()
    memory = [process.communicate()[0].split() for process in running]
    elapsed = time.perf_counter() - started
    show("  memory of a worker, MiB", max(int(words[0]) for words in memory) / 1024)
    return sum(int(words[1]) for words in memory) / elapsed


def start(part: str, **environment: str) -> subprocess.Popen[str]:
    """A process of its own that measures a part."""
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "benchmarks.outbox_scale", "--part", part),
            *("--url", os.environ["DATABASE_URL"]),
        ],
        cwd=ROOT,
        env=os.environ | environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def show_pruning(events: int, backlog: int) -> None:
    """Old completed events are deleted while a worker drains."""
    from django.db import connection

    from apps.outbox.events import NewEvent
    from apps.outbox.services import publish_many

    fill(backlog)
    with connection.cursor() as cursor:
        for first in range(0, backlog, UPDATED_AT_ONCE):
            cursor.execute(
                "UPDATE domain_event_outbox SET status = 'completed', processed_at = '2026-01-01'"
                " WHERE id > %s AND id <= %s",
                [first, first + UPDATED_AT_ONCE],
            )
    fresh = (NewEvent("BENCH", "thing", str(n), {"n": n}) for n in range(events))
    publish_many(fresh, outside_transaction=True)
    pruning = start("prune")
    pruning.stdout.readline()  # it is ready
    show(f"1 worker while {backlog:,} are pruned, events/s", rate(1))
    show("  rows pruned a second", float(pruning.communicate()[0]))


def prune() -> None:
    """Delete what completed long ago, and tell how many a second."""
    import django

    django.setup()
    from apps.outbox import services

    print("ready", flush=True)
    began = time.perf_counter()
    pruned = services.prune(older_than_seconds=86_400, max_batches=100_000)
    print(pruned / (time.perf_counter() - began))


def work() -> None:
    """A worker process: say that it is ready, wait for the start, handle what is due."""
    import resource

    import django

    django.setup()
    from apps.outbox import registry, services

    for handler in registry.registered():
        registry.forget(handler.name)
    registry.handles("BENCH")(do_nothing)
    print("ready", flush=True)
    sys.stdin.readline()
    # A huge backlog is not worked off: its pace over some seconds is enough.
    done = services.drain(LONGEST_SECONDS, BATCH).completed
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, done)


def schedule_for_tomorrow(count: int) -> None:
    """So many events at the highest priority that are not due yet."""
    from apps.outbox.events import NewEvent
    from apps.outbox.services import publish_many

    tomorrow = datetime.now(UTC) + timedelta(days=1)
    options = {"priority": HIGHEST_PRIORITY, "available_at": tomorrow}
    rows = (NewEvent("BENCH", "thing", str(n), {"n": n}, **options) for n in range(count))
    publish_many(rows, outside_transaction=True)


def latency() -> None:
    """Print milliseconds from commit to the start of the handler, while nothing else happens."""
    import django

    django.setup()
    from apps.outbox import registry, services
    from apps.outbox.stopping import stop_requested
    from apps.outbox.waking import wait_for_work

    started_at: list[float] = []
    registry.handles("LATENCY")(lambda _event: started_at.append(time.perf_counter()))

    def reside() -> None:
        while not stop_requested.is_set():
            services.drain(1)
            wait_for_work(1)

    worker = threading.Thread(target=reside, daemon=True)
    worker.start()
    waits = []
    for number in range(LATENCY_SAMPLES):
        time.sleep(0.05 + number * 0.003)  # not in step with the polling
        committed_at = time.perf_counter()
        services.publish("LATENCY", "thing", str(number), outside_transaction=True)
        while len(started_at) <= number:
            time.sleep(0.001)
        waits.append((started_at[number] - committed_at) * 1000)
    stop_requested.set()
    worker.join()
    print(statistics.median(waits), statistics.quantiles(waits, n=20)[-1])


PARTS = {"work": work, "prune": prune, "latency": latency}


if __name__ == "__main__":
    main()
