"""Process jobs under fire: kill -9, a mongod that dies, a worker stopped past its lease.

PROCESS_JOB_CHAOS_JOBS sets how many jobs (10,000 for the full run).
"""

import itertools
import os
import random
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pymongo import MongoClient
from pymongo.errors import PyMongoError

from apps.delivery import mongod
from apps.delivery.process_jobs import JOBS, ProcessJobQueue
from tests.waiting import wait_until

from .process_job_worker import DATABASE

pytestmark = [pytest.mark.chaos, pytest.mark.mongo]
ROOT = Path(__file__).parents[2]
JOB_COUNT = int(os.environ.get("PROCESS_JOB_CHAOS_JOBS", "800"))
TARGETS = 200
PROCESSES = 4
LEASE_SECONDS = 2.0
KILLS = 6
BURST = 6  # changes of one target that follow each other, so that workers meet there


@dataclass
class Worker:
    """A process of two workers, and when it stopped running for good or for a while."""

    process: subprocess.Popen[bytes]
    log: Path
    halted_at: float | None = None

    def halt(self, number: signal.Signals) -> None:
        self.process.send_signal(number)
        self.halted_at = time.monotonic()

    def runs(self) -> Iterator[tuple[int, float, float]]:
        """Target, begin and end of each run; one that was cut short ended when it was halted."""
        for path in self.log.parent.glob(f"{self.log.name}-*"):
            begun: tuple[int, float] | None = None
            for line in path.read_text().splitlines():
                what, target, _fence, at = line.split()
                if what == "start":
                    begun = (int(target), float(at))
                elif begun:
                    yield (*begun, self.end(begun[1], float(at)))
                    begun = None
            if begun and self.halted_at:
                yield (*begun, max(begun[1], self.halted_at))

    def end(self, began: float, ended: float) -> float:
        is_cut = self.halted_at is not None and began <= self.halted_at < ended
        return self.halted_at if is_cut and self.halted_at else ended

    def count(self, what: str) -> int:
        texts = [path.read_text() for path in self.log.parent.glob(f"{self.log.name}-*")]
        return sum(line.startswith(what) for text in texts for line in text.splitlines())


@dataclass
class Battle:
    """A private mongod, and workers on it."""

    folder: Path
    port: int = field(default_factory=mongod.free_port)
    workers: list[Worker] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.address = mongod.address_of(self.port)
        self.start_server()
        self.client: MongoClient[Any] = MongoClient(self.address, serverSelectionTimeoutMS=5000)
        self.database = self.client[DATABASE]
        self.queue = ProcessJobQueue(self.database)

    def start_server(self) -> None:
        self.server = mongod.start(self.folder / "data", self.port)
        mongod.wait_until_writable(self.port)

    def crash_server(self) -> None:
        self.server.kill()
        self.server.wait()
        self.start_server()

    def add_worker(self) -> Worker:
        log = self.folder / f"worker{len(self.workers)}"
        command = [sys.executable, "-m", "tests.chaos.process_job_worker", self.address, str(log)]
        process = subprocess.Popen(
            [*command, str(LEASE_SECONDS)], cwd=ROOT, stderr=subprocess.DEVNULL
        )
        self.workers.append(Worker(process, log))
        return self.workers[-1]

    def enqueue(self, number: int) -> None:
        """A change of the source, then the job that follows it: by another user each time."""
        target = number // BURST % TARGETS
        self.database["sources"].update_one({"_id": target}, {"$inc": {"version": 1}}, upsert=True)
        self.queue.enqueue("Target", {"target": target}, {"userId": number})

    def left(self) -> int:
        try:
            return self.database[JOBS].count_documents({})
        except PyMongoError:
            return -1

    def close(self) -> None:
        for worker in self.workers:
            worker.process.kill()
            worker.process.wait()
        self.client.close()
        mongod.stop(self.server)


@pytest.fixture
def battle(tmp_path: Path) -> Iterator[Battle]:
    running = Battle(tmp_path)
    yield running
    running.close()


def versions(collection: Any) -> dict[int, int]:
    return {row["_id"]: row["version"] for row in collection.find({})}


def overlaps(workers: list[Worker]) -> list[Any]:
    """Runs of one target that began before the one before them had ended."""
    by_target: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for worker in workers:
        for target, began, ended in worker.runs():
            by_target[target].append((began, ended))
    found = []
    for target, spans in by_target.items():
        spans.sort()
        pairs = itertools.pairwise(spans)
        found += [(target, one, other) for one, other in pairs if other[0] < one[1]]
    return found


def test_no_target_twice_at_once_and_no_job_lost_whatever_dies(battle: Battle) -> None:
    rng = random.Random(7)
    alive = [battle.add_worker() for _ in range(PROCESSES)]
    moments = sorted(rng.sample(range(JOB_COUNT // 10, JOB_COUNT), KILLS))
    for number in range(JOB_COUNT):
        battle.enqueue(number)
        if number in moments:
            victim = alive.pop(rng.randrange(len(alive)))
            victim.halt(signal.SIGKILL)
            victim.process.wait()
            alive.append(battle.add_worker())
        if number == moments[KILLS // 2] + 1:
            battle.crash_server()
    wait_until(lambda: battle.left() == 0, seconds=240)
    assert overlaps(battle.workers) == []
    assert versions(battle.database["results"]) == versions(battle.database["sources"])


def test_a_worker_stopped_past_its_lease_changes_nothing_when_it_wakes(battle: Battle) -> None:
    stopped = battle.add_worker()
    for number in range(0, TARGETS * BURST, BURST):
        battle.enqueue(number)
    wait_until(lambda: stopped.log.parent.joinpath(f"{stopped.log.name}-0").exists())
    wait_until(lambda: stopped.count("start") > 10)
    stopped.halt(signal.SIGSTOP)
    others = [battle.add_worker() for _ in range(PROCESSES - 1)]
    # What it held runs elsewhere, and new changes come after.
    wait_until(lambda: battle.left() == 0, seconds=60)
    for number in range(1, TARGETS * BURST, BURST):
        battle.enqueue(number)
    wait_until(lambda: battle.left() == 0, seconds=60)
    before = versions(battle.database["results"])
    assert before == versions(battle.database["sources"])
    stopped.process.send_signal(signal.SIGCONT)
    battle.enqueue(0)  # it works again, on what it claims from now on
    wait_until(lambda: battle.left() == 0, seconds=60)
    wait_until(lambda: stopped.count("start") == stopped.count("end") + stopped.count("refused"))
    results = versions(battle.database["results"])
    assert results == versions(battle.database["sources"])
    assert overlaps([stopped, *others]) == []
