"""Waiting for something to become true, with a deadline instead of a guess."""

import time
from collections.abc import Callable

STEP_SECONDS = 0.05


def wait_until(condition: Callable[[], object], *, seconds: float = 30) -> None:
    """Return as soon as the condition holds; fail when the time is over."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not become true in time"
        time.sleep(STEP_SECONDS)
