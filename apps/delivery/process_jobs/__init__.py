"""Recalculations that survive restarts and never run twice at once for one target."""

from .keys import backoff_ms, dedupe_key, retry_delay_ms
from .lease import Run, current_run
from .names import FENCES, JOBS, LOCKS, MAX_ATTEMPTS
from .queue import ProcessJobQueue

__all__ = [
    "FENCES",
    "JOBS",
    "LOCKS",
    "MAX_ATTEMPTS",
    "ProcessJobQueue",
    "Run",
    "backoff_ms",
    "current_run",
    "dedupe_key",
    "retry_delay_ms",
]
