"""Process jobs a second, beside the seed's algorithm written plainly in the same run.

    python -m benchmarks.process_jobs [JOBS]

Workers are processes on one private mongod. The plain algorithm is that of node apps: one lease,
one lock, one look for siblings and one delete for each job.
"""

import itertools
import multiprocessing
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pymongo import MongoClient

from apps.delivery.mongod import mongod
from apps.delivery.process_jobs import JOBS, LOCKS, ProcessJobQueue, dedupe_key
from tests.delivery.node_worker import NodeWorker

DATABASE = "bench"
WORKERS = (1, 2, 4)
BACKLOGS = (0, 100_000)
DEFAULT_JOBS = 4000
FILL_BATCH = 10_000


def nothing(model: str, selectors: Any, context: Any) -> None:
    """A run without work, so that the queue itself is measured."""


def work_pombo(address: str, ready: Any, go: Any) -> None:
    with MongoClient(address) as client:
        queue = ProcessJobQueue(client[DATABASE], models={"Order"})
        queue.ensure_ready()
        ready.release()
        go.wait()
        queue.drain(nothing)


def work_plainly(address: str, ready: Any, go: Any) -> None:
    with MongoClient(address) as client:
        worker = NodeWorker(client[DATABASE])
        worker.make_indexes()
        ready.release()
        go.wait()
        while worker.process_one(nothing):
            pass


def fill(database: Any, count: int, *, due: datetime) -> None:
    """Distinct pending jobs, oldest first."""
    made = (pending(number, due + timedelta(microseconds=1000 * number)) for number in range(count))
    while chunk := list(itertools.islice(made, FILL_BATCH)):
        database[JOBS].insert_many(chunk)


def pending(number: int, due: datetime) -> dict[str, Any]:
    selectors = {"id": number}
    return {
        "model": "Order",
        "selectors": selectors,
        "accessContext": None,
        "dedupeKey": dedupe_key("Order", selectors),
        "status": "pending",
        "attempts": 0,
        "nextRunAt": due,
        "createdAt": due,
    }


def measure(address: str, work: Any, *, workers: int, jobs: int, backlog: int) -> float:
    """Jobs a second from the start until the first `jobs` of them are gone."""
    context = multiprocessing.get_context("spawn")
    ready, go = context.Semaphore(0), context.Event()
    with MongoClient(address) as client:
        client.drop_database(DATABASE)
        database = client[DATABASE]
        ProcessJobQueue(database).ensure_ready()
        fill(database, jobs + backlog, due=datetime.now(UTC) - timedelta(days=1))
        processes = [
            context.Process(target=work, args=(address, ready, go)) for _ in range(workers)
        ]
        for process in processes:
            process.start()
        for _ in processes:
            ready.acquire()
        started = time.perf_counter()
        go.set()
        while (left := database[JOBS].estimated_document_count()) > backlog:
            time.sleep(0.005)
        seconds = time.perf_counter() - started
        for process in processes:
            process.kill()
            process.join()
        database[LOCKS].delete_many({})
    return (jobs + backlog - left) / seconds


def main(jobs: int) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        mongod(Path(folder)) as address,
    ):
        print(f"{'pending':>8} {'workers':>8} {'Pombo/s':>9} {'plain/s':>9} {'ratio':>6}")
        for backlog, workers in itertools.product(BACKLOGS, WORKERS):
            sizes = {"workers": workers, "backlog": backlog}
            ours = measure(address, work_pombo, jobs=jobs, **sizes)
            plain = measure(address, work_plainly, jobs=jobs // 8, **sizes)
            print(f"{backlog:>8} {workers:>8} {ours:>9.0f} {plain:>9.0f} {ours / plain:>6.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_JOBS)
