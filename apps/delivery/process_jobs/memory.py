"""The queue of a process that has no MongoDB: jobs live in its memory and die with it."""

import itertools
import logging
import math
import threading
from collections.abc import Mapping
from typing import Any

from apps.delivery.errors import ProcessTransactionRequired

from .batch import Runner, redacted
from .keys import dedupe_key
from .lease import Lease, Run, running

logger = logging.getLogger(__name__)

Job = tuple[str, Any, Mapping[str, Any] | None]


class MemoryJobQueue:
    """Runs jobs one after another in a thread of its own, each once, in the order of arrival.

    Equal jobs that wait are one. For development and small installations only: other processes
    neither see the jobs nor keep out of their way, and a restart loses what waits.
    """

    def __init__(self, run: Runner) -> None:
        self._run = run
        self._waiting: dict[str, Job] = {}
        self._lock = threading.Lock()
        self._worker: threading.Thread | None = None
        self._fences = itertools.count(1)

    def enqueue(
        self,
        model_name: str,
        selectors: Any,
        access_context: Mapping[str, Any] | None = None,
        *,
        session: object = None,
    ) -> None:
        """Add a job. Raises InvalidSelector, and ProcessTransactionRequired for any session."""
        if session is not None:
            raise ProcessTransactionRequired("Without MongoDB there is no transaction to join.")
        key = dedupe_key(model_name, selectors, access_context)
        with self._lock:
            self._waiting.setdefault(key, (model_name, selectors, access_context))
            if self._worker is None:
                self._worker = threading.Thread(
                    target=self._work, name="process-jobs-in-memory", daemon=True
                )
                self._worker.start()

    def waiting_count(self) -> int:
        """How many jobs wait in this process."""
        return len(self._waiting)

    def drain(self) -> None:
        """Wait until everything has run."""
        worker = self._worker
        if worker is not None:
            worker.join()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            self._run_one(*job)

    def _next(self) -> Job | None:
        """The oldest job; without one the thread ends, and the next enqueue starts another."""
        with self._lock:
            if not self._waiting:
                self._worker = None
                return None
            return self._waiting.pop(next(iter(self._waiting)))

    def _run_one(self, model: str, selectors: Any, context: Mapping[str, Any] | None) -> None:
        endless = Lease(lambda: True, seconds=math.inf)
        target = dedupe_key(model, selectors)
        current = Run(model, selectors, context, target, next(self._fences), 1, endless)
        try:
            with running(current):
                self._run(model, selectors, context)
        except Exception as error:  # noqa: BLE001 - a runner may raise anything; the thread goes on
            fields = {"model": model, "attempts": 1, "error": redacted(error)}
            logger.error("OON_PROCESS_ASYNC_RECALCULATION_FAILED", extra=fields)  # noqa: TRY400 - the text is redacted, a trace would not be
