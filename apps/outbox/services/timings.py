"""Noting handlers' timings, so that the dashboard knows those of all workers."""

import time
from datetime import timedelta

from django.utils import timezone

from apps.outbox import histograms
from apps.outbox.models import HandlerTiming

NOTE_EVERY_SECONDS = 10.0
KEEP = timedelta(days=1)

_next_note = 0.0


def note_sometimes() -> None:
    """Note what this process has counted, at most every ten seconds."""
    global _next_note  # noqa: PLW0603 (one clock for the process)
    if time.monotonic() >= _next_note:
        _next_note = time.monotonic() + NOTE_EVERY_SECONDS
        note()


def note() -> None:
    """Write one row for each handler that was called since the last note."""
    taken = histograms.take()
    HandlerTiming.objects.bulk_create(
        HandlerTiming(handler=name, calls=sum(counts), buckets=list(counts))
        for name, counts in taken.items()
    )


def forget_old() -> int:
    """Delete notes older than a day; tells how many."""
    return HandlerTiming.objects.filter(noted_at__lt=timezone.now() - KEEP).delete()[0]
