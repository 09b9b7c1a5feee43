"""The flags in a process: one snapshot, loaded by one thread at a time. No Django.

A reader never waits for the database twice, and never sees a failure: while loading fails, the last
known flags are served and the next try waits a little longer each time. Nothing latches: as soon as
loading works again (the table appears, the server is back) the flags are fresh.
"""

import os
import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType

from apps.flags.evaluation import FlagDefinition

Snapshot = Mapping[str, FlagDefinition]
EMPTY: Snapshot = MappingProxyType({})

FIRST_BACKOFF_SECONDS = 1.0
LONGEST_BACKOFF_SECONDS = 30.0


class FlagCache:
    """A snapshot that refreshes itself when older than `ttl_seconds` by the given clock.

    `load` reads all flags and may raise; `on_error` is told each failure. Safe under threads, and
    after a fork the child loads its own copy.
    """

    def __init__(
        self,
        load: Callable[[], Snapshot],
        *,
        ttl_seconds: float,
        clock: Callable[[], float],
        on_error: Callable[[Exception], None],
    ) -> None:
        self._load = load
        self._ttl_seconds = ttl_seconds
        self._clock = clock
        self._on_error = on_error
        self._snapshot = EMPTY
        self._is_loaded = False
        self._fresh_until = 0.0
        self._backoff_seconds = 0.0
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self._reset_lock)

    def get(self) -> Snapshot:
        """The flags, refreshed when stale; the first caller of all waits for the first load."""
        if self._clock() < self._fresh_until:
            return self._snapshot
        return self.refresh()

    def refresh(self, *, force: bool = False) -> Snapshot:
        """Load the flags if they are stale, or in any case with `force`.

        While another thread loads, callers get what there is, unless nothing was loaded yet.
        """
        must_wait = force or not self._is_loaded
        if not self._lock.acquire(blocking=must_wait):
            return self._snapshot
        try:
            if force or self._clock() >= self._fresh_until:
                self._try_load()
        finally:
            self._lock.release()
        return self._snapshot

    def clear(self) -> None:
        """Make the next reader load; what is known serves until then."""
        self._fresh_until = 0.0

    def _try_load(self) -> None:
        try:
            self._snapshot = self._load()
        except Exception as error:  # noqa: BLE001 (whatever fails, flags must keep their answers)
            self._backoff_seconds = min(
                LONGEST_BACKOFF_SECONDS, self._backoff_seconds * 2 or FIRST_BACKOFF_SECONDS
            )
            self._fresh_until = self._clock() + self._backoff_seconds
            self._on_error(error)
        else:
            self._backoff_seconds = 0.0
            self._fresh_until = self._clock() + self._ttl_seconds
        self._is_loaded = True

    def _reset_lock(self) -> None:
        # A thread of the parent may have held it; in the child nobody would release it.
        self._lock = threading.Lock()
