"""What delivery does when something happened."""

from django.utils import timezone

from apps.delivery.services import handshake, process_jobs
from apps.outbox.events import Event
from apps.outbox.registry import handles


@handles("DEPLOYMENT_FINISHED")
def report_to_central(event: Event) -> None:
    """Tell Central; three attempts, since the event is published with three."""
    handshake.report(int(event.aggregate_id), now=timezone.now())


@handles(process_jobs.REQUESTED)
def enqueue_process_job(event: Event) -> None:
    """Queue the recalculation that a committed transaction asked for."""
    process_jobs.accept(event.payload)
