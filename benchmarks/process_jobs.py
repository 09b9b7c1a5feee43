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


def fill(database: Any, count: int, *, first: int, due: datetime) -> None:
    """Distinct pending jobs, oldest first."""
    made = (
        pending(first + number, due + timedelta(milliseconds=number)) for number in range(count)
    )
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


def prepare(database: Any, jobs: int) -> int:
    """Hand back what killed workers held, add jobs before all others; how many were there."""
    database[LOCKS].delete_many({})
    held = {"status": "processing"}
    unlease = {"leaseOwner": "", "leaseExpiresAt": ""}
    database[JOBS].update_many(held, {"$set": {"status": "pending"}, "$unset": unlease})
    backlog = int(database[JOBS].count_documents({}))
    fill(database, jobs, first=-jobs, due=datetime.now(UTC) - timedelta(days=2))
    return backlog


def measure(address: str, work: Any, *, workers: int, jobs: int) -> float:
    """Jobs a second from the start until as many are gone as were added."""
    context = multiprocessing.get_context("spawn")
    ready, go = context.Semaphore(0), context.Event()
    with MongoClient(address) as client:
        database = client[DATABASE]
        backlog = prepare(database, jobs)
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
    return (jobs + backlog - left) / seconds


def main(jobs: int) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        mongod(Path(folder)) as address,
        MongoClient(address) as client,
    ):
        print(
            f"{'pending':>8} {'workers':>8} {'Pombo/s':>9} {'plain/s':>9} {'ratio':>6}", flush=True
        )
        for backlog in BACKLOGS:
            client.drop_database(DATABASE)
            ProcessJobQueue(client[DATABASE]).ensure_ready()
            fill(client[DATABASE], backlog, first=0, due=datetime.now(UTC) - timedelta(days=1))
            for workers in WORKERS:
                ours = measure(address, work_pombo, workers=workers, jobs=jobs)
                plain = measure(address, work_plainly, workers=workers, jobs=jobs // 8)
                row = f"{backlog:>8} {workers:>8} {ours:>9.0f} {plain:>9.0f} {ours / plain:>6.1f}"
                print(row, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_JOBS)
