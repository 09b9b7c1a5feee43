"""Waking a sleeping worker, and waiting to be woken.

With Redis a list holds at most one token, pushed on commit; without it workers poll. Nothing
depends on a wake-up: it only shortens the wait.
"""

import functools

import redis
from django.conf import settings
from django.db import transaction

from apps.outbox.stopping import stop_requested

WAKE_KEY = "pombo:outbox:wake"
POLL_SECONDS = 0.2
# A worker looks up at least this often, to notice a stop request.
LONGEST_WAIT_SECONDS = 1.0


def wake_on_commit() -> None:
    """Arrange one wake-up for when the present transaction commits."""
    if not settings.REDIS_URL:
        return
    waiting = transaction.get_connection().run_on_commit
    if not any(function is _push_token for _savepoints, function, _robust in waiting):
        transaction.on_commit(_push_token, robust=True)


def wait_for_work(seconds: float) -> None:
    """Sleep until woken, asked to stop, or the time is over; at most a moment."""
    if settings.REDIS_URL:
        try:
            _redis().blpop([WAKE_KEY], timeout=min(seconds, LONGEST_WAIT_SECONDS))
        except redis.RedisError:
            stop_requested.wait(POLL_SECONDS)
        return
    stop_requested.wait(min(seconds, POLL_SECONDS))


def _push_token() -> None:
    pipeline = _redis().pipeline()
    pipeline.lpush(WAKE_KEY, "1")
    pipeline.ltrim(WAKE_KEY, 0, 0)
    pipeline.execute()


@functools.cache
def _redis() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=2, socket_timeout=5)
