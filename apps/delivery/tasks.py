"""Entry points of background work."""

from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from apps.delivery import mongodb
from apps.delivery.clusters import is_configured, shared_cluster
from apps.delivery.services import (
    domains,
    fleet,
    process_job_residency,
    rollouts,
    shared_files,
    usage,
)

# Shorter than the minute between two starts, so that the schedule never piles up.
DRIVE_SECONDS = 50.0
CHECK_SECONDS = 50.0


def drive_rollouts() -> None:
    """Every minute, and whenever a deployment is queued: carry open deployments on."""
    if is_configured():
        rollouts.drive(shared_cluster(), clock=timezone.now, max_seconds=DRIVE_SECONDS)


def refresh_fleet() -> None:
    """Every two minutes: look at all environments."""
    if is_configured():
        fleet.refresh_fleet(shared_cluster(), now=timezone.now())


def check_domains() -> None:
    """Every minute: check the custom domains whose time has come."""
    if is_configured():
        domains.check_due_domains(shared_cluster(), now=timezone.now())


def expire_reservations() -> None:
    """Every minute: give back units that were held too long."""
    usage.expire_reservations(now=timezone.now())


def check_usage_totals() -> None:
    """Every hour: compare each counter with its events, once a day each."""
    usage.check_totals(now=timezone.now(), max_seconds=CHECK_SECONDS)


def work_process_jobs(slot: str = "1") -> None:
    """Stay for up to 50 s running process jobs, then hand over; at once when the slot is taken."""
    process_job_residency.reside(slot)


def sweep_shared_files() -> None:
    """Every hour: delete what interrupted uploads left behind."""
    if mongodb.is_configured():
        shared_files.sweep()


def prune_usage_events() -> None:
    """Every hour: delete single events of settled periods by age."""
    usage.prune_events(
        now=timezone.now(),
        keep=timedelta(days=settings.USAGE_KEEP_DAYS),
        max_seconds=CHECK_SECONDS,
    )
