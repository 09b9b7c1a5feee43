"""Writing down, once in a while, which flags were asked for."""

import logging
import time
from datetime import date
from typing import Any

from django.core.signals import request_finished
from django.db import DatabaseError
from django.utils import timezone

from apps.flags.models import FlagUsage
from apps.flags.sampling import take_asked_flags

logger = logging.getLogger(__name__)

WEB_INTERVAL_SECONDS = 60.0


def record_usage(*, today: date) -> int:
    """Note the flags that this process was asked for since the last call; tells how many."""
    names = sorted(take_asked_flags())
    for name in names:
        FlagUsage.objects.update_or_create(flag_name=name, defaults={"last_evaluated_on": today})
    return len(names)


class WebUsage:
    """Notes what a web process was asked for, between requests and at most once a minute.

    The runner's task sees only its own process; without this a flag that only pages ask for would
    look unused.
    """

    def __init__(self) -> None:
        self._next_at = 0.0

    def connect(self) -> None:
        """Note usage from now on; for the entry point of the web server."""
        request_finished.connect(self.after_request, dispatch_uid="flags.web_usage")

    def after_request(self, **_signal: Any) -> None:
        """Note usage if a minute has passed; a database that is away costs only the sample."""
        if time.monotonic() < self._next_at:
            return
        self._next_at = time.monotonic() + WEB_INTERVAL_SECONDS
        try:
            record_usage(today=timezone.now().date())
        except DatabaseError as error:
            logger.warning("flags.usage_lost", extra={"error": type(error).__name__})
