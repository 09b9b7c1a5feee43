"""How fast the outbox drains beside its Python peers, all on this machine in the same run.

    .venv/bin/python -m benchmarks.outbox_peers [--events 20000] [--runs 3] [--seconds 60]
                                                [--workers 1 2] [--only ours-mariadb celery ...]

Every system gets the same number of jobs that do nothing, then worker processes of its own kind
with one job at a time, and up to `--seconds`. The clock starts with the first job that leaves the
queue, so that starting up costs nobody anything. Medians over the runs, in jobs a second. Databases
are made for the run and dropped after it; in Redis only the keys of the run are touched.
"""

import argparse
import asyncio
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.outbox import BATCH, create_database, do_nothing, drop_database
from benchmarks.outbox import fill as fill_ours

ROOT = Path(__file__).resolve().parents[1]
MARIADB = "mysql://root@127.0.0.1:3306/pombo_bench_peers"
POSTGRESQL = "postgres://postgres@127.0.0.1:5432/pombo_bench_peers"
REDIS = os.environ.get("BENCH_REDIS_URL", "redis://127.0.0.1:6379/2")
CELERY_QUEUE = "jobs"
REDIS_PREFIX = "pombo-bench:"
POLL_SECONDS = 0.02
START_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Peer:
    """One system: where it keeps its queue, and how to prepare, fill, count and work it."""

    url: str
    prepare: Callable[[], None]
    fill: Callable[[int], None]
    remaining: Callable[[], int]
    work: Callable[[], None]
    apps: tuple[str, ...] = ()
    clean: Callable[[], None] | None = None


def main() -> None:
    """Measure each system in a process of its own and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--only", nargs="+", choices=list(PEERS), default=list(PEERS))
    parser.add_argument("--measure", choices=list(PEERS), help=argparse.SUPPRESS)
    parser.add_argument("--work", choices=list(PEERS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        set_up(options.work)
        PEERS[options.work].work()
    elif options.measure:
        measure(options.measure, options)
    else:
        for name in options.only:
            subprocess.run(command("--measure", name, *sys.argv[1:]), cwd=ROOT, check=False)


def measure(name: str, options: argparse.Namespace) -> None:
    """The medians of one system, in its own database."""
    set_up(name)
    create_database()
    try:
        PEERS[name].prepare()
        for workers in options.workers:
            rates = [rate(name, workers, options) for _run in range(options.runs)]
            print(f"{name:<28}{workers} worker(s){statistics.median(rates):>12,.0f}/s", flush=True)
    finally:
        if clean := PEERS[name].clean:
            clean()
        drop_database()


def rate(name: str, workers: int, options: argparse.Namespace) -> float:
    """Jobs a second from the first that leaves the queue to the last, or to the end of the time."""
    peer = PEERS[name]
    peer.fill(options.events)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    running = [
        subprocess.Popen(command("--work", name), cwd=ROOT, start_new_session=True, **quiet)
        for _number in range(workers)
    ]
    try:
        at_start, started = wait_below(peer, options.events, START_SECONDS)
        at_end, ended = wait_below(peer, 1, options.seconds)
    finally:
        for process in running:
            end(process)
    return (at_start - at_end) / (ended - started)


def wait_below(peer: Peer, count: int, seconds: float) -> tuple[int, float]:
    """Wait until fewer than so many jobs remain; tells how many then, and when."""
    until = time.perf_counter() + seconds
    while True:
        left, now = peer.remaining(), time.perf_counter()
        if left < count or now > until:
            return left, now
        time.sleep(POLL_SECONDS)


def end(process: subprocess.Popen[bytes]) -> None:
    """Stop a worker and all its children; nothing of theirs is needed afterwards."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "benchmarks.outbox_peers", *words]


def set_up(name: str) -> None:
    """Django with the peer's database and apps, in this process."""
    peer = PEERS[name]
    os.environ |= {"DATABASE_URL": peer.url, "DEBUG": "false", "SECRET_KEY": "bench"}
    os.environ |= {"LOG_LEVEL": "ERROR", "ENV_FILE": os.devnull, "REDIS_URL": ""}
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django
    from django.conf import settings

    settings.INSTALLED_APPS += peer.apps
    settings.Q_CLUSTER = {"name": "bench", "orm": "default", "workers": 1, "poll": 0.2}
    settings.Q_CLUSTER |= {"timeout": 60, "retry": 120}
    settings.TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}
    django.setup()


def migrate() -> None:
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def count_rows(table: str, condition: str = "TRUE") -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(f"SELECT COUNT(*) FROM {table} WHERE {condition}")
        return int(cursor.fetchone()[0])


# -- ours


def remaining_ours() -> int:
    return count_rows("domain_event_outbox", "status IN ('pending', 'processing')")


def work_ours() -> None:
    from apps.outbox import registry, services

    for handler in registry.registered():
        registry.forget(handler.name)
    registry.handles("BENCH")(do_nothing)
    while True:
        services.drain(60, BATCH)


# -- django-q2 with its ORM broker


def fill_django_q(count: int) -> None:
    from django.utils import timezone
    from django_q.models import OrmQ
    from django_q.signing import SignedPackage

    OrmQ.objects.all().delete()
    now = timezone.now()
    job = {"func": "benchmarks.outbox.do_nothing", "args": (1,), "kwargs": {}, "started": now}
    packs = [SignedPackage.dumps(job | {"id": f"{n:032x}", "name": str(n)}) for n in range(count)]
    rows = (OrmQ(key="bench", payload=pack, lock=now) for pack in packs)
    OrmQ.objects.bulk_create(rows, batch_size=500)


def work_django_q() -> None:
    from django.core.management import call_command

    call_command("qcluster")


# -- django-tasks with its database worker


def fill_django_tasks(count: int) -> None:
    from django_tasks_db.models import DBTaskResult

    from benchmarks.peer_tasks import nothing

    DBTaskResult.objects.all().delete()
    for number in range(count):
        nothing.enqueue(number)


def remaining_django_tasks() -> int:
    from django_tasks_db.models import DBTaskResult

    return DBTaskResult.objects.filter(status__in=("READY", "RUNNING")).count()


def work_django_tasks() -> None:
    from django.core.management import call_command

    call_command("db_worker", interval=0, verbosity=0)


# -- procrastinate


def procrastinate_app() -> Any:
    from procrastinate import App, PsycopgConnector

    app = App(connector=PsycopgConnector(conninfo=POSTGRESQL))
    app.task(name="nothing")(do_nothing)
    return app


def prepare_procrastinate() -> None:
    with procrastinate_app().open() as app:
        app.schema_manager.apply_schema()


def fill_procrastinate(count: int) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM procrastinate_jobs")
    with procrastinate_app().open() as app:
        app.tasks["nothing"].batch_defer(*({"event": number} for number in range(count)))


def remaining_procrastinate() -> int:
    return count_rows("procrastinate_jobs", "status IN ('todo', 'doing')")


def work_procrastinate() -> None:
    with procrastinate_app().open() as app:
        app.run_worker()


# -- PgQueuer


def pgqueuer_does(work: Callable[[Any], Any]) -> None:
    """Run a coroutine with a PgQueuer driver of its own connection."""
    import asyncpg
    from pgqueuer import AsyncpgDriver

    async def run() -> None:
        link = await asyncpg.connect(POSTGRESQL)
        await work(AsyncpgDriver(link))
        await link.close()

    asyncio.run(run())


def prepare_pgqueuer() -> None:
    from pgqueuer import Queries

    pgqueuer_does(lambda driver: Queries(driver).install())


def fill_pgqueuer(count: int) -> None:
    from pgqueuer import Queries

    async def enqueue(driver: Any) -> None:
        queries = Queries(driver)
        await queries.clear_queue()
        await queries.enqueue(["nothing"] * count, [b"1"] * count, [0] * count)

    pgqueuer_does(enqueue)


def work_pgqueuer(batch_size: int) -> None:
    from pgqueuer import PgQueuer

    async def run(driver: Any) -> None:
        queuer = PgQueuer(driver)

        @queuer.entrypoint("nothing")
        async def nothing(job: object) -> None:
            """The job."""

        await queuer.run(batch_size=batch_size)

    pgqueuer_does(run)


# -- Celery with Redis


def celery_app() -> Any:
    from celery import Celery

    app = Celery("bench", broker=REDIS, task_ignore_result=True)
    app.conf.task_default_queue = CELERY_QUEUE
    app.conf.broker_transport_options = {"global_keyprefix": REDIS_PREFIX}
    app.task(name="nothing")(do_nothing)
    return app


def fill_celery(count: int) -> None:
    app = celery_app()
    clean_redis()
    with app.producer_or_acquire() as producer:
        for number in range(count):
            app.tasks["nothing"].apply_async((number,), producer=producer)


def remaining_celery() -> int:
    return int(redis_link().llen(REDIS_PREFIX + CELERY_QUEUE))


def clean_redis() -> None:
    link = redis_link()
    for key in link.scan_iter(match=f"{REDIS_PREFIX}*"):
        link.delete(key)


def redis_link() -> Any:
    import redis

    return redis.Redis.from_url(REDIS)


def work_celery() -> None:
    celery_app().worker_main(["worker", "--concurrency=1", "--loglevel=ERROR"])


def nothing_to_do() -> None:
    """For a queue that makes itself."""


PGQUEUER = (POSTGRESQL, prepare_pgqueuer, fill_pgqueuer, lambda: count_rows("pgqueuer"))
PEERS = {
    "ours-mariadb": Peer(MARIADB, migrate, fill_ours, remaining_ours, work_ours),
    "ours-postgresql": Peer(POSTGRESQL, migrate, fill_ours, remaining_ours, work_ours),
    "pgqueuer-batch-100": Peer(*PGQUEUER, lambda: work_pgqueuer(100)),
    "pgqueuer": Peer(*PGQUEUER, lambda: work_pgqueuer(10)),
    "celery-redis": Peer(
        MARIADB, nothing_to_do, fill_celery, remaining_celery, work_celery, clean=clean_redis
    ),
    "procrastinate": Peer(
        POSTGRESQL,
        prepare_procrastinate,
        fill_procrastinate,
        remaining_procrastinate,
        work_procrastinate,
    ),
    "django-q2-orm": Peer(
        MARIADB, migrate, fill_django_q, lambda: count_rows("django_q_ormq"), work_django_q
    ),
    "django-tasks-db": Peer(
        MARIADB,
        migrate,
        fill_django_tasks,
        remaining_django_tasks,
        work_django_tasks,
        apps=("django_tasks", "django_tasks_db"),
    ),
}

if __name__ == "__main__":
    main()
