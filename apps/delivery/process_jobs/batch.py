"""The jobs of one claim, from their locks to their end."""

import logging
import random
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from bson import json_util

from apps.common.errors import Forbidden, InvalidInput, NotFound
from apps.delivery.central_texts import cleaned

from .keys import dedupe_key, retry_delay_ms
from .lease import Lease, Run, running
from .names import BUSY_DELAY_MS
from .store import JobStore

logger = logging.getLogger(__name__)

Runner = Callable[[str, Any, Mapping[str, Any] | None], object]
Observer = Callable[[str, str, float], None]
"""Hears of each run: the model, the outcome, the seconds that it took."""
Jobs = list[dict[str, Any]]

_FLUSH_SECONDS = 0.2
_SHARE_SECONDS = 1.0  # what has not begun by then goes back, so that other workers can have it
# Trying these again changes nothing, so they use up no further attempts.
_FINAL_KINDS = (InvalidInput, NotFound, Forbidden)


class Batch:
    """The jobs of one claim token, grouped by key."""

    def __init__(
        self, store: JobStore, token: str, jobs: Jobs, *, rng: random.Random, observe: Observer
    ) -> None:
        self._store = store
        self._token = token
        self._rng = rng
        self._observe = observe
        self._groups: dict[str, Jobs] = {}
        for job in jobs:
            self._groups.setdefault(job["dedupeKey"], []).append(job)
        self._targets = {
            key: dedupe_key(group[0]["model"], group[0]["selectors"])
            for key, group in self._groups.items()
        }

    def lock(self, *, seconds: float, since: float) -> Lease:
        """Take the locks of target and job; what is busy is handed back."""
        held = self._store.lock(self._token, [*self._groups, *self._targets.values()])
        busy = [key for key, target in self._targets.items() if not {key, target} <= held]
        if busy:
            self._store.hand_back(self._token, busy, delay_ms=BUSY_DELAY_MS)
            for key in busy:
                del self._groups[key], self._targets[key]
        needed = {*self._groups, *self._targets.values()}
        if held - needed:
            self._store.unlock(self._token, held - needed)
        lock_count = len(needed)
        return Lease(
            lambda: self._store.renew(self._token, lock_count), seconds=seconds, since=since
        )

    def work(self, run: Runner, lease: Lease, *, is_stopping: Callable[[], bool]) -> int | None:
        """Run and finish; what does not start is handed back.

        Tells how many keys it got through when there were more than it had time for, else None.
        """
        try:
            with lease:
                return self._run_all(run, lease, is_stopping)
        finally:
            self._store.unlock(self._token)

    def _run_all(self, run: Runner, lease: Lease, is_stopping: Callable[[], bool]) -> int | None:
        fences = self._store.next_fences(self._token, set(self._targets.values()))
        began_at = flushed_at = time.monotonic()
        waiting, finished = deque(self._groups), list[str]()
        while waiting and not is_stopping() and not lease.is_lost:
            key = waiting.popleft()
            fence = fences.get(self._targets[key])
            if fence is not None and self._run_group(run, key, fence, lease):
                finished.append(key)
            if time.monotonic() - flushed_at > _FLUSH_SECONDS:
                self._store.complete(self._token, finished)
                finished, flushed_at = [], time.monotonic()
            if flushed_at - began_at > _SHARE_SECONDS:
                break
        self._store.complete(self._token, finished)
        if not waiting:
            return None
        self._store.hand_back(self._token, waiting)
        return len(self._groups) - len(waiting)

    def _run_group(self, run: Runner, key: str, fence: int, lease: Lease) -> bool:
        """Whether the runs of a key succeeded; a failure is already written down."""
        for job in _distinct(self._groups[key]):
            current = Run(
                model_name=job["model"],
                selectors=job["selectors"],
                access_context=job.get("accessContext"),
                target=self._targets[key],
                fence=fence,
                attempts=job["attempts"],
                lease=lease,
            )
            if not self._run_one(run, key, current):
                return False
        return True

    def _run_one(self, run: Runner, key: str, current: Run) -> bool:
        started = time.monotonic()
        try:
            with running(current):
                run(current.model_name, current.selectors, current.access_context)
        except Exception as error:  # noqa: BLE001 - a runner may raise anything; all of it is a failed attempt
            self._observe(current.model_name, "failed", time.monotonic() - started)
            self._fail(key, current, error)
            return False
        self._observe(current.model_name, "done", time.monotonic() - started)
        return True

    def _fail(self, key: str, current: Run, error: Exception) -> None:
        delay_ms = retry_delay_ms(current.attempts, rng=self._rng)
        text, is_final = redacted(error), isinstance(error, _FINAL_KINDS)
        self._store.retry_or_bury(
            self._token, key, delay_ms=delay_ms, error=text, is_final=is_final
        )
        fields = {"model": current.model_name, "attempts": current.attempts, "error": text}
        logger.error("OON_PROCESS_ASYNC_RECALCULATION_FAILED", extra=fields)


def _distinct(equal_jobs: Jobs) -> Jobs:
    """One job for each meaning: a key cannot tell an id from its hex, nor a time from its text."""
    if len(equal_jobs) == 1:
        return equal_jobs
    meanings = {
        json_util.dumps(
            job["selectors"], sort_keys=True, json_options=json_util.CANONICAL_JSON_OPTIONS
        ): job
        for job in reversed(equal_jobs)
    }
    return list(meanings.values())


def redacted(error: BaseException) -> str:
    """An error's text, cut, without passwords and tokens."""
    return cleaned(str(error) or type(error).__name__)
