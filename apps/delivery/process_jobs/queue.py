"""The queue as apps and workers use it: enqueue, and run what is due."""

import logging
import random
import re
import secrets
import threading
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any

from pymongo.client_session import ClientSession
from pymongo.database import Database
from pymongo.errors import PyMongoError

from apps.delivery.errors import ProcessTransactionRequired

from .keys import dedupe_key, retry_delay_ms
from .lease import Lease, Run, running
from .names import BUSY_DELAY_MS, ERROR_CHARACTERS, LEASE_SECONDS
from .store import JobStore

logger = logging.getLogger(__name__)

Runner = Callable[[str, Any, Mapping[str, Any] | None], object]
Jobs = list[dict[str, Any]]

_BATCH_SIZE = 200
_POLL_SECONDS = 0.5
_FLUSH_SECONDS = 0.2
_CREDENTIALS = re.compile(r"(?<=://)[^/\s@]+@|(?i:bearer\s+\S+)|(?i:(?:password|token|secret)=\S+)")


class ProcessJobQueue:
    """Jobs in one MongoDB database.

    `models` limits what this worker claims to what it has runners for; None claims everything.
    A runner is called as `run(model_name, selectors, access_context)`; `current_run()` tells it
    its fence and whether its lease is lost. It must check the access context again: rights may
    have been taken away since the job was enqueued.
    """

    def __init__(
        self,
        database: Database[dict[str, Any]],
        *,
        run: Runner | None = None,
        models: Collection[str] | None = None,
        lease_seconds: float = LEASE_SECONDS,
        batch_size: int = _BATCH_SIZE,
    ) -> None:
        self._store = JobStore(database, lease_seconds=lease_seconds)
        self._run = run
        self._models = models
        self._lease_seconds = lease_seconds
        self._batch_size = batch_size
        self._rng = random.Random()  # noqa: S311 - spreads retries; nobody gains by guessing it
        self._is_ready = False
        self._stopping = threading.Event()
        self._wake = threading.Event()
        self._worker: threading.Thread | None = None

    def enqueue(
        self,
        model_name: str,
        selectors: Any,
        access_context: Mapping[str, Any] | None = None,
        *,
        session: ClientSession | None = None,
    ) -> None:
        """Add a job; with a session, only if its transaction is committed.

        Raises InvalidSelector, and ProcessTransactionRequired for a session without transaction.
        """
        if session is not None and not session.in_transaction:
            raise ProcessTransactionRequired("The session has no transaction under way.")
        self.ensure_ready()
        job = {"model": model_name, "selectors": selectors, "accessContext": access_context}
        job["dedupeKey"] = dedupe_key(model_name, selectors, access_context)
        self._store.insert(job, session=session)
        if session is None:
            self._wake.set()

    def ensure_ready(self) -> None:
        """Make the indexes, once."""
        if not self._is_ready:
            self._store.ensure_indexes()
            self._is_ready = True

    def process_one(self, run: Runner) -> bool:
        """Run one due job, with all that equal it. False when none is due."""
        return self._process(run, limit=1)

    def drain(self, run: Runner | None = None) -> None:
        """Run whatever is due now, until nothing is or the queue is told to stop."""
        runner = self._runner(run)
        while not self._stopping.is_set() and self._process(runner, limit=self._batch_size):
            pass

    def start(self, run: Runner | None = None) -> bool:
        """Work in a thread. False when it already does."""
        if self._worker is not None:
            return False
        self._stopping.clear()
        self._worker = threading.Thread(
            target=self._work, args=(self._runner(run),), name="process-jobs", daemon=True
        )
        self._worker.start()
        return True

    def stop(self) -> None:
        """Finish the run under way, hand the rest back, and wait for the thread."""
        self._stopping.set()
        self._wake.set()
        if self._worker is not None:
            self._worker.join()
            self._worker = None

    def _runner(self, run: Runner | None) -> Runner:
        runner = run or self._run
        if runner is None:
            raise ValueError("The queue has no runner.")
        return runner

    def _work(self, run: Runner) -> None:
        while not self._stopping.is_set():
            self._wake.clear()
            try:
                self.drain(run)
            except PyMongoError as error:
                logger.error("OON_PROCESS_JOBS_WORKER_FAILED", extra={"error": redacted(error)})  # noqa: TRY400 - the trace may hold the server's address with its password
            self._wake.wait(_POLL_SECONDS)

    def _process(self, run: Runner, *, limit: int) -> bool:
        self.ensure_ready()
        token = secrets.token_hex(16)
        jobs = self._claim(token, limit)
        if jobs:
            _Batch(self._store, token, jobs, rng=self._rng).work(
                run, lease_seconds=self._lease_seconds, stopping=self._stopping
            )
        return bool(jobs)

    def _claim(self, token: str, limit: int) -> Jobs:
        self._store.bury_exhausted()
        abandoned = self._store.claim_abandoned(token, self._models)
        return abandoned or self._store.claim_due(token, self._models, limit)


class _Batch:
    """The jobs of one claim token, from their locks to their end."""

    def __init__(self, store: JobStore, token: str, jobs: Jobs, *, rng: random.Random) -> None:
        self._store = store
        self._token = token
        self._rng = rng
        self._heads = {job["dedupeKey"]: job for job in reversed(jobs)}
        self._targets = {
            key: dedupe_key(job["model"], job["selectors"]) for key, job in self._heads.items()
        }

    def work(self, run: Runner, *, lease_seconds: float, stopping: threading.Event) -> None:
        """Lock, run and finish; what is busy or does not start is handed back."""
        lock_count = len(self._lock())
        lease = Lease(lambda: self._store.renew(self._token, lock_count), seconds=lease_seconds)
        try:
            with lease:
                self._run_all(run, lease, stopping)
        finally:
            self._store.unlock(self._token)

    def _lock(self) -> set[str]:
        """The locks of the jobs that may run; the others are handed back."""
        held = self._store.lock(self._token, [*self._heads, *self._targets.values()])
        busy = [key for key, target in self._targets.items() if not {key, target} <= held]
        if busy:
            self._store.hand_back(self._token, busy, delay_ms=BUSY_DELAY_MS)
            for key in busy:
                del self._heads[key], self._targets[key]
        needed = {*self._heads, *self._targets.values()}
        if held - needed:
            self._store.unlock(self._token, held - needed)
        return needed

    def _run_all(self, run: Runner, lease: Lease, stopping: threading.Event) -> None:
        self._store.claim_equals(self._token, list(self._heads))
        fences = self._store.next_fences(self._token, set(self._targets.values()))
        waiting, finished, flushed_at = list(self._heads), [], time.monotonic()
        while waiting and not stopping.is_set() and not lease.is_lost:
            key = waiting.pop(0)
            fence = fences.get(self._targets[key])
            if fence is not None and self._run_one(run, key, fence, lease):
                finished.append(key)
            if time.monotonic() - flushed_at > _FLUSH_SECONDS:
                self._store.complete(self._token, finished)
                finished, flushed_at = [], time.monotonic()
        self._store.complete(self._token, finished)
        if waiting:
            self._store.hand_back(self._token, waiting)

    def _run_one(self, run: Runner, key: str, fence: int, lease: Lease) -> bool:
        """Whether the run succeeded; a failure is already written down."""
        job = self._heads[key]
        context, attempts = job.get("accessContext"), job["attempts"]
        current = Run(
            job["model"], job["selectors"], context, self._targets[key], fence, attempts, lease
        )
        try:
            with running(current):
                run(job["model"], job["selectors"], context)
        except Exception as error:  # noqa: BLE001 - a runner may raise anything; all of it is a failed attempt
            self._fail(key, job, error)
            return False
        return True

    def _fail(self, key: str, job: Mapping[str, Any], error: Exception) -> None:
        delay_ms = retry_delay_ms(job["attempts"], rng=self._rng)
        text = redacted(error)
        self._store.retry_or_bury(self._token, key, delay_ms=delay_ms, error=text)
        fields = {"model": job["model"], "attempts": job["attempts"], "error": text}
        logger.error("OON_PROCESS_ASYNC_RECALCULATION_FAILED", extra=fields)


def redacted(error: BaseException) -> str:
    """An error's text, cut, without passwords and tokens."""
    return _CREDENTIALS.sub("***", str(error) or type(error).__name__)[:ERROR_CHARACTERS]
