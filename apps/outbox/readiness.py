"""Whether events flow: the age of the oldest due event says more than a living process."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django_q.brokers import get_broker

from apps.common.health import Unready
from apps.outbox.queries import oldest_due_seconds


def check_broker() -> Mapping[str, Any]:
    """Unready when the runner's broker does not answer: tasks could not be started."""
    broker = get_broker()
    if not broker.ping():
        raise Unready("The task broker does not answer; is Redis running?")
    return {"broker": broker.info(), "waiting": broker.queue_size()}


def check_oldest_due() -> Mapping[str, Any]:
    """Unready when the oldest due event has waited longer than the setting allows."""
    seconds = oldest_due_seconds()
    if seconds > settings.OUTBOX_OVERDUE_SECONDS:
        raise Unready(f"The oldest due event has waited {seconds:.0f} s; is a worker running?")
    return {"oldest_due_seconds": seconds}
