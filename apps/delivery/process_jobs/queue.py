"""The queue as apps and workers use it: enqueue, and run what is due."""

import logging
import random
import secrets
import threading
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any

from pymongo.client_session import ClientSession
from pymongo.database import Database
from pymongo.errors import PyMongoError

from apps.delivery.errors import ProcessTransactionRequired

from .arrivals import Arrivals
from .batch import Batch, Jobs, Observer, Runner, redacted
from .keys import dedupe_key
from .names import JOBS, LEASE_SECONDS
from .store import JobStore

logger = logging.getLogger(__name__)

Models = Collection[str] | Callable[[], Collection[str]]

_BATCH_SIZE = 200
_POLL_SECONDS = 0.5
_RECONNECT_SECONDS = 1.0


class ProcessJobQueue:
    """Jobs in one MongoDB database.

    `models` limits what this worker claims to what it has runners for, and may be a function, so
    that it follows what is registered; None claims everything. A runner is called as
    `run(model_name, selectors, access_context)`; `current_run()` tells it its fence and whether its
    lease is lost. It must check the access context again: rights may have been taken away since the
    job was enqueued. An error of the kinds InvalidInput, NotFound and Forbidden is not tried again.
    """

    def __init__(
        self,
        database: Database[dict[str, Any]],
        *,
        run: Runner | None = None,
        models: Models | None = None,
        lease_seconds: float = LEASE_SECONDS,
        batch_size: int = _BATCH_SIZE,
        observe: Observer = lambda _model, _outcome, _seconds: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._store = JobStore(database, lease_seconds=lease_seconds)
        self._arrivals = Arrivals(database[JOBS], wait_seconds=_POLL_SECONDS)
        self._run = run
        self._models = models
        self._lease_seconds = lease_seconds
        self._batch_size = batch_size
        self._pace = batch_size
        self._observe = observe
        self._should_stop = should_stop
        self._rng = random.Random()  # noqa: S311 - spreads retries; nobody gains by guessing it
        self._is_ready = False
        self._making_ready = threading.Lock()
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
        """Make the indexes and check them, once. Raises ProcessJobIndexConflict."""
        with self._making_ready:
            if not self._is_ready:
                self._store.ensure_indexes()
                self._is_ready = True

    def process_one(self, run: Runner) -> bool:
        """Run one due job, with all that equal it. False when none is due."""
        return self._process(run, limit=1) > 0

    def drain(self, run: Runner | None = None) -> int:
        """Run whatever is due now, until nothing is or the queue is told to stop; claims taken."""
        runner, taken = self._runner(run), 0
        while not self._is_stopping():
            claimed = self._process(runner, limit=self._batch_size)
            taken += claimed
            if not claimed:
                break
        return taken

    def work(self, run: Runner | None = None, *, max_seconds: float | None = None) -> None:
        """Run jobs as they come, until told to stop or the time is over.

        A server that goes away for a while only makes it wait.
        """
        runner = self._runner(run)
        until = None if max_seconds is None else time.monotonic() + max_seconds
        with self._arrivals:
            while not self._is_stopping() and (until is None or time.monotonic() < until):
                self._work_a_round(runner)

    def start(self, run: Runner | None = None) -> bool:
        """Work in a thread. False when it already does."""
        if self._worker is not None:
            return False
        self._stopping.clear()
        self._worker = threading.Thread(
            target=self.work, args=(self._runner(run),), name="process-jobs", daemon=True
        )
        self._worker.start()
        return True

    def stop(self) -> None:
        """Finish the run under way, hand the rest back, and wait for the thread."""
        self.ask_to_stop()
        if self._worker is not None:
            self._worker.join()
            self._worker = None

    def ask_to_stop(self) -> None:
        """Tell `work` and `drain` to end after the run under way; signal handlers may call it."""
        self._stopping.set()
        self._wake.set()

    def _is_stopping(self) -> bool:
        return self._stopping.is_set() or self._should_stop()

    def _runner(self, run: Runner | None) -> Runner:
        runner = run or self._run
        if runner is None:
            raise ValueError("The queue has no runner.")
        return runner

    def _work_a_round(self, run: Runner) -> None:
        """Run what is due, then sleep until something comes or a moment has passed."""
        self._wake.clear()
        try:
            self.drain(run)
            # Listening begins before the last look, so that no job slips in between.
            if self._arrivals.listen() and not self._store.has_due(self._claimable()):
                self._arrivals.wait()
                return
        except PyMongoError as error:
            logger.error("OON_PROCESS_JOBS_WORKER_FAILED", extra={"error": redacted(error)})  # noqa: TRY400 - the trace may hold the server's address with its password
            self._arrivals.close()
            self._stopping.wait(_RECONNECT_SECONDS)
            return
        if not self._arrivals.is_open:
            self._wake.wait(_POLL_SECONDS)

    def _process(self, run: Runner, *, limit: int) -> int:
        self.ensure_ready()
        token = secrets.token_hex(16)
        claimed_at = time.monotonic()
        jobs = self._claim(token, min(limit, self._pace))
        if jobs:
            batch = Batch(self._store, token, jobs, rng=self._rng, observe=self._observe)
            lease = batch.lock(seconds=self._lease_seconds, since=claimed_at)
            managed = batch.work(run, lease, is_stopping=self._is_stopping)
            self._pace = self._next_pace(managed)
        return len(jobs)

    def _next_pace(self, managed: int | None) -> int:
        """How many to claim next: as many as there was time for, so that slow jobs are shared."""
        if managed is None:
            return min(2 * self._pace, self._batch_size)
        return max(1, managed)

    def _claim(self, token: str, limit: int) -> Jobs:
        models = self._claimable()
        abandoned = self._store.claim_abandoned(token, models)
        return abandoned or self._store.claim_due(token, models, limit)

    def _claimable(self) -> Collection[str] | None:
        return self._models() if callable(self._models) else self._models
