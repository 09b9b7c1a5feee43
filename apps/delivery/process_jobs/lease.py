"""How a worker keeps what it claimed, and how it learns that it lost it."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Self

from pymongo.errors import PyMongoError

from apps.delivery.errors import LeaseLost


class Lease:
    """A claim that is renewed at a third of its life for as long as the block lasts."""

    def __init__(
        self, renew: Callable[[], bool], *, seconds: float, since: float | None = None
    ) -> None:
        self._renew = renew
        self._seconds = seconds
        self._renewed_at = time.monotonic() if since is None else since
        self._lost = threading.Event()
        self._over = threading.Event()
        self._keeper = threading.Thread(target=self._keep, name="process-job-lease", daemon=True)

    def __enter__(self) -> Self:
        self._keeper.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._keeper.join()

    @property
    def is_lost(self) -> bool:
        """Whether another worker holds the job by now, or may do so at any moment."""
        # A process that was stopped wakes before its keeper does, so age counts as well.
        return self._lost.is_set() or time.monotonic() - self._renewed_at >= self._seconds

    def _keep(self) -> None:
        while not self._over.wait(self._seconds / 3) and not self._lost.is_set():
            asked_at = time.monotonic()
            try:
                is_ours = self._renew()
            except PyMongoError:
                continue  # the server may come back within the lease; `is_lost` watches its end
            if is_ours:
                self._renewed_at = asked_at
            else:
                self._lost.set()


@dataclass(frozen=True, slots=True)
class Run:
    """What a runner may ask about the job that it works on.

    `fence` grows with every claim of the target: store it with the result, and never write over
    a larger one, so that a worker that was stopped and woke up late changes nothing.
    """

    model_name: str
    selectors: Any
    access_context: Mapping[str, Any] | None
    target: str
    fence: int
    attempts: int
    lease: Lease

    def ensure_held(self) -> None:
        """Raises LeaseLost when another worker may run the target by now."""
        if self.lease.is_lost:
            raise LeaseLost("The lease of the process job has ended.")


_current: ContextVar[Run] = ContextVar("process_job_run")


def current_run() -> Run:
    """The run that this thread is in. Raises LookupError outside of a runner."""
    return _current.get()


@contextmanager
def running(run: Run) -> Iterator[None]:
    """Make `run` the current one for the block."""
    mark = _current.set(run)
    try:
        yield
    finally:
        _current.reset(mark)
