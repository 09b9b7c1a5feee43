"""A worker process for the chaos tests: drains until killed; handlers act on markers in payloads.

python -m tests.chaos.drainer [LEASE_SECONDS]
"""

import os
import signal
import sys

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
os.environ.setdefault("OUTBOX_LEASE_SECONDS", sys.argv[1] if len(sys.argv) > 1 else "3")
django.setup()

from apps.flags.models import FeatureFlag
from apps.outbox import registry
from apps.outbox.events import Event
from apps.outbox.registry import handles
from apps.outbox.services import residency

for handler in registry.registered():
    registry.forget(handler.name)


@handles("COUNTED", transactional=True)
def count_once(event: Event) -> None:
    """An effect that a second run would double: one row for each event."""
    FeatureFlag.objects.create(flag_name=f"effect-{event.aggregate_id}-{event.attempts}")


@handles("DEADLY")
def kill_own_process(event: Event) -> None:
    """What a segmentation fault or the out-of-memory killer would do."""
    if event.payload.get("kills"):
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    while True:
        residency.reside(slot=f"chaos {os.getpid()}")
