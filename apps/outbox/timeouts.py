"""Ending a handler that takes too long. No Django.

The alarm of the process is borrowed: whoever had set it (django-q2 does, for the whole task) gets
it back with the time that is left. Only a main thread can be interrupted; in another one the
handler runs without a limit.
"""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SHORTEST_ALARM_SECONDS = 0.001


class HandlerTimedOut(Exception):
    """A handler ran past its time; its attempt counts as failed."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no result within {seconds:g} s")


@contextmanager
def limited_to(seconds: float | None) -> Iterator[None]:
    """Raise HandlerTimedOut in the block after so many seconds; without a number, never."""
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def expire(_signal: int, _frame: Any) -> None:
        raise HandlerTimedOut(seconds)

    started = time.monotonic()
    former = signal.signal(signal.SIGALRM, expire)
    left, _interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)
        if left:
            rest = left - (time.monotonic() - started)
            signal.setitimer(signal.ITIMER_REAL, max(rest, SHORTEST_ALARM_SECONDS))
