"""How fast the catalogue answers over 100,000 packs, and that a walk through it misses nothing.

    .venv/bin/python -m benchmarks.catalogue [--packs 100000] [--seconds 10] [--keep]

A server of its own (gunicorn, two processes of four threads) runs on the MariaDB of `--url`.
Prints p50, p95 and p99 of an open loop at 50 requests a second and of 20 clients, caches off and
on, beside a view of the same bytes; query counts; and a walk through all packs while some change.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime

import requests

from benchmarks.catalogue_server import MEASURED
from benchmarks.outbox import drop_database, on_server
from benchmarks.packs import fill

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PORT = 8397
ADDRESS = f"http://127.0.0.1:{PORT}"
RATE, CLIENTS = 50, 20
LIST, CONSTANT = MEASURED, "/constant"


def main() -> None:
    """Fill, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", default="mysql://root@127.0.0.1:3306/pombo_bench_catalogue")
    parser.add_argument("--packs", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--keep", action="store_true", help="Keep the database for the next run.")
    options = parser.parse_args()
    os.environ |= {"DATABASE_URL": options.url, "SECRET_KEY": "bench", "DEBUG": "false"}
    os.environ |= {"DJANGO_SETTINGS_MODULE": "config.settings", "ENV_FILE": os.devnull}
    os.environ |= {"API_RATE_ANONYMOUS": "100000000/min", "SECURE_HTTPS": "false"}
    os.environ |= {"LOG_LEVEL": "ERROR"}
    prepare(options.packs)
    print_query_counts()
    for seconds in (0, 3):
        with server(cache_seconds=seconds):
            print(f"lists kept for {seconds} s:", flush=True)
            measure(options.seconds, options.runs)
    print_walk(options.packs)
    if not options.keep:
        drop_database()


def prepare(packs: int) -> None:
    """A ranked catalogue of so many packs, unless it is there from the run before."""
    on_server("CREATE DATABASE IF NOT EXISTS {0}")
    import django

    django.setup()
    from django.core.management import call_command

    from apps.stickers.models import PackScoreSnapshot
    from apps.stickers.services.snapshots import refresh_snapshots

    call_command("migrate", verbosity=0)
    if PackScoreSnapshot.objects.count() == packs:
        return
    from apps.stickers.models import StickerPack

    fill(packs, 3, now=NOW)
    refresh_snapshots(StickerPack.objects.values_list("pk", flat=True), now=datetime.now(UTC))


def print_query_counts() -> None:
    """Queries of one page and of sixty packs, with snapshots and live."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext, override_settings

    from apps.flags.testing import override_flag

    client = Client()
    for is_enabled in (True, False):
        counts = []
        flag = override_flag("enable_ranking_snapshot_read", is_enabled=is_enabled)
        with flag, override_settings(CATALOGUE_CACHE_SECONDS=0, ALLOWED_HOSTS=["*"]):
            for limit in (1, 24, 60):
                client.get(f"/api/v1/packs?limit={limit}")
                with CaptureQueriesContext(connection) as queries:
                    client.get(f"/api/v1/packs?limit={limit}")
                counts.append(str(len(queries)))
        shown = "snapshots" if is_enabled else "live scores"
        print(f"queries for 1, 24 and 60 packs with {shown}: {', '.join(counts)}")


def measure(seconds: float, runs: int) -> None:
    """Open loop on our list, then both views at 20 clients, in turn; medians of the runs."""
    loops = [percentiles(open_loop(LIST, seconds)) for _run in range(runs)]
    shown = [statistics.median(values) for values in zip(*loops, strict=True)]
    print(f"  open loop at {RATE}/s: p50, p95, p99 = {', '.join(f'{ms:.1f}' for ms in shown)} ms")
    ratios = []
    for _run in range(runs):
        ours, plain = (crowd(path, seconds / 2) for path in (LIST, CONSTANT))
        ratios.append(len(ours) / len(plain))
    rate = len(ours) / (seconds / 2)
    p50, p95, p99 = percentiles(ours)
    print(f"  {CLIENTS} clients: {rate:.0f}/s, p50, p95, p99 = {p50:.1f}, {p95:.1f}, {p99:.1f} ms")
    share = statistics.median(ratios)
    print(f"  of the constant view's throughput: {share:.0%}", flush=True)


def percentiles(times: list[float]) -> tuple[float, float, float]:
    """p50, p95 and p99 in milliseconds."""
    cuts = statistics.quantiles(times, n=100)
    return cuts[49] * 1000, cuts[94] * 1000, cuts[98] * 1000


def open_loop(path: str, seconds: float) -> list[float]:
    """Requests at a fixed rate, whether or not others are answered; timed from when each is due."""
    count, begin = int(RATE * seconds), time.perf_counter()

    def one(number: int) -> float:
        due = begin + number / RATE
        time.sleep(max(0.0, due - time.perf_counter()))
        session().get(ADDRESS + path).raise_for_status()
        return time.perf_counter() - due

    with ThreadPoolExecutor(CLIENTS) as pool:
        return list(pool.map(one, range(count)))


def crowd(path: str, seconds: float) -> list[float]:
    """Twenty clients, each asking again as soon as it is answered."""
    end = time.perf_counter() + seconds

    def one(_client: int) -> list[float]:
        times = []
        while (started := time.perf_counter()) < end:
            session().get(ADDRESS + path).raise_for_status()
            times.append(time.perf_counter() - started)
        return times

    with ThreadPoolExecutor(CLIENTS) as pool:
        return [value for times in pool.map(one, range(CLIENTS)) for value in times]


_local = threading.local()


def session() -> requests.Session:
    """The connection of this thread."""
    if not hasattr(_local, "session"):
        _local.session = requests.Session()
    found: requests.Session = _local.session
    return found


@contextmanager
def server(*, cache_seconds: int) -> Iterator[None]:
    """The platform in a process of its own, with the constant view beside it."""
    environment = os.environ | {"CATALOGUE_CACHE_SECONDS": str(cache_seconds)}
    command = [sys.executable, "-m", "gunicorn", "benchmarks.catalogue_server:application()"]
    command += ["--bind", f"127.0.0.1:{PORT}", "--workers", "2", "--threads", "4"]
    command += ["--log-level", "error"]
    process = subprocess.Popen(command, env=environment)
    try:
        wait_for(lambda: requests.get(ADDRESS + CONSTANT, timeout=60).ok)
        yield
    finally:
        process.terminate()
        process.wait(timeout=20)


def wait_for(answers: Callable[[], bool]) -> None:
    """Ask until the server answers."""
    for _attempt in range(300):
        try:
            if answers():
                return
        except requests.ConnectionError:
            time.sleep(0.1)
    raise SystemExit("The server does not answer.")


def print_walk(packs: int) -> None:
    """Walk all pages while a twentieth of the packs changes its rank; nothing steady is missed."""
    from decimal import Decimal

    from apps.stickers.catalogue import Wish, catalogue_page
    from apps.stickers.models import PackScoreSnapshot

    rng = random.Random(3)
    ids = list(PackScoreSnapshot.objects.order_by("pk").values_list("pk", flat=True))
    met: dict[str, int] = {}
    moved: set[str] = set()
    cursor: str | None = ""
    started, pages = time.perf_counter(), 0
    while cursor is not None:
        page = catalogue_page(Wish(limit=60, cursor=cursor or None))
        for pack in page.packs:
            met[pack.pk] = met.get(pack.pk, 0) + 1
        for pk in rng.sample(ids, 3):
            PackScoreSnapshot.objects.filter(pk=pk).update(
                ranking_score=Decimal(rng.randrange(10**6)) / 10**6
            )
            moved.add(pk)
        cursor, pages = page.next_cursor, pages + 1
    steady = [pk for pk in ids if pk not in moved]
    wrong = sum(met.get(pk, 0) != 1 for pk in steady)
    seconds = time.perf_counter() - started
    print(
        f"walk: {pages:,} pages of {packs:,} packs in {seconds:.0f} s, {len(moved):,} packs moved;"
    )
    print(f"  of {len(steady):,} steady packs {wrong} were not met exactly once")


if __name__ == "__main__":
    main()
