"""Two workers of process jobs in one process, which write down when each run began and ended.

    python -m tests.chaos.process_job_worker ADDRESS LOG LEASE_SECONDS

A run reads the source of its target, works a moment, and writes what it read under its fence. Times
are those of the machine's monotonic clock, so that the lines of several processes compare.
"""

import sys
import threading
import time
from pathlib import Path
from typing import Any, TextIO

from pymongo import MongoClient
from pymongo.errors import AutoReconnect, DuplicateKeyError

from apps.delivery.process_jobs import ProcessJobQueue, current_run

DATABASE = "chaos"
THREADS = 2
BATCH_SIZE = 20
WORK_SECONDS = 0.01


class Bench:
    """The runner of one worker, with its log."""

    def __init__(self, database: Any, log: TextIO) -> None:
        self.sources, self.results = database["sources"], database["results"]
        self.log = log

    def run(self, _model: str, selectors: Any, _context: Any) -> None:
        target, fence = selectors["target"], current_run().fence
        self.note("start", target, fence)
        source = self.sources.find_one({"_id": target})
        time.sleep(WORK_SECONDS)
        # On purpose without asking whether the lease is lost: the fence alone must keep it out.
        is_written = self.write(target, fence, source["version"])
        self.note("end" if is_written else "refused", target, fence)

    def write(self, target: int, fence: int, version: int) -> bool:
        """Unless a run with a larger fence has written before."""
        fields = {"$set": {"fence": fence, "version": version}, "$inc": {"writes": 1}}
        try:
            self.results.update_one({"_id": target, "fence": {"$lte": fence}}, fields, upsert=True)
        except DuplicateKeyError:
            return False
        return True

    def note(self, what: str, target: int, fence: int) -> None:
        self.log.write(f"{what} {target} {fence} {time.monotonic()}\n")
        self.log.flush()


def main(address: str, log: str, lease_seconds: str) -> None:
    with MongoClient(address, serverSelectionTimeoutMS=2000) as client:
        queues = []
        for number in range(THREADS):
            queue = ProcessJobQueue(
                client[DATABASE], lease_seconds=float(lease_seconds), batch_size=BATCH_SIZE
            )
            file = Path(f"{log}-{number}").open("w")  # noqa: SIM115 (as long as the process)
            queue.start(Bench(client[DATABASE], file).run)
            queues.append(queue)
        threading.Event().wait()


if __name__ == "__main__":
    sys.tracebacklimit = 3
    try:
        main(*sys.argv[1:])
    except AutoReconnect:
        sys.exit(1)
