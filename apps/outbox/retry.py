"""When a failed handler runs again. No Django."""

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Exponential back-off with jitter: `base` seconds, times `factor` each attempt, up to `cap`.

    The jitter takes the delay down by up to `jitter` of itself, so that rows that failed together
    do not return together; `factor=1, jitter=0` gives a constant delay.
    """

    base_seconds: float = 5.0
    factor: float = 2.0
    cap_seconds: float = 900.0
    jitter: float = 0.25

    def delay_seconds(self, attempts: int, *, rng: random.Random) -> float:
        """How long to wait after that many started attempts (at least one)."""
        exponent = min(max(0, attempts - 1), 64)
        delay = min(self.cap_seconds, self.base_seconds * self.factor**exponent)
        return delay * (1 - self.jitter * rng.random())


DEFAULT_POLICY = RetryPolicy()
