"""The flags in a process: one snapshot, loaded by one thread at a time. No Django.

A reader never waits for the database twice, and never sees a failure: while loading fails, the last
known flags are served and the next try waits a little longer each time. Nothing latches: as soon as
loading works again (the table appears, the server is back) the flags are fresh.
"""

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

from apps.flags.evaluation import FlagDefinition

Snapshot = Mapping[str, FlagDefinition]
EMPTY: Snapshot = MappingProxyType({})

FIRST_BACKOFF_SECONDS = 1.0
LONGEST_BACKOFF_SECONDS = 30.0


class FlagCache:
    """A snapshot that refreshes itself when older than `ttl_seconds` by the given clock.

    `load` reads all flags and may raise; `on_error` is told each failure. With `version` the cache
    asks at most every `version_seconds` whether somebody else changed a flag. Safe under threads
    and forks.
    """

    def __init__(
        self,
        load: Callable[[], Snapshot],
        *,
        ttl_seconds: float,
        clock: Callable[[], float],
        on_error: Callable[[Exception], None],
        version: Callable[[], object] | None = None,
        version_seconds: float = 0.0,
    ) -> None:
        self._load = load
        self._ttl_seconds = ttl_seconds
        self._clock = clock
        self._on_error = on_error
        self._version = version
        self._version_seconds = version_seconds
        self._known_version: object = None
        self._loaded_until = 0.0
        self._snapshot = EMPTY
        self._overrides: Snapshot = EMPTY
        self._is_loaded = False
        self._fresh_until = 0.0
        self._backoff_seconds = 0.0
        self._clear_count = 0
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self._reset_lock)

    def get(self) -> Snapshot:
        """The flags, refreshed when stale; the first caller of all waits for the first load."""
        flags = self._snapshot if self._clock() < self._fresh_until else self.refresh()
        return {**flags, **self._overrides} if self._overrides else flags

    def refresh(self, *, force: bool = False) -> Snapshot:
        """Load the flags if they are stale, or in any case with `force`.

        While another thread loads, callers get what there is, unless nothing was loaded yet.
        """
        must_wait = force or not self._is_loaded
        if not self._lock.acquire(blocking=must_wait):
            return self._snapshot
        try:
            if force or (self._clock() >= self._fresh_until and not self._is_unchanged()):
                self._try_load()
        finally:
            self._lock.release()
        return self._snapshot

    @contextmanager
    def overridden(self, definition: FlagDefinition) -> Iterator[None]:
        """Serve one flag so while the block runs, on top of whatever is loaded."""
        before = self._overrides
        self._overrides = {**before, definition.flag_name: definition}
        try:
            yield
        finally:
            self._overrides = before

    def clear(self) -> None:
        """Make the next reader load; what is known serves until then."""
        self._clear_count += 1
        self._fresh_until = self._loaded_until = 0.0

    def _is_unchanged(self) -> bool:
        """Whether the snapshot may serve on, because nobody changed a flag since it was loaded."""
        if self._version is None or self._clock() >= self._loaded_until:
            return False
        try:
            version = self._version()
        except Exception as error:  # noqa: BLE001 (the shared cache is down: the age decides alone)
            self._on_error(error)
            self._fresh_until = self._loaded_until
            return True
        self._fresh_until = min(self._loaded_until, self._clock() + self._version_seconds)
        return bool(version == self._known_version)

    def _try_load(self) -> None:
        clear_count, version = self._clear_count, self._read_version()
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
            self._known_version = version
            self._loaded_until = self._fresh_until = self._clock() + self._ttl_seconds
            if self._version is not None:
                self._fresh_until = self._clock() + self._version_seconds
            if self._clear_count != clear_count:
                # A change was committed while we read: what we have may be from before it.
                self._fresh_until = self._loaded_until = 0.0
        self._is_loaded = True

    def _read_version(self) -> object:
        try:
            return self._version() if self._version else None
        except Exception as error:  # noqa: BLE001 (the shared cache is down: the age decides alone)
            self._on_error(error)
            return self._known_version

    def _reset_lock(self) -> None:
        # A thread of the parent may have held it; in the child nobody would release it.
        self._lock = threading.Lock()
