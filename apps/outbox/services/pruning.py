"""Deleting completed events by age; dead letters stay until someone decides."""

from apps.outbox.queue import EVENT_QUEUE

PRUNE_BATCH = 1000


def prune(*, older_than_seconds: int, max_batches: int = 100) -> int:
    """Delete completed events in small batches, each its own transaction; tells how many."""
    deleted = 0
    for _batch in range(max_batches):
        count = EVENT_QUEUE.prune(older_than_seconds=older_than_seconds, limit=PRUNE_BATCH)
        deleted += count
        if count < PRUNE_BATCH:
            break
    return deleted
