"""All periodic work; `manage.py sync_schedules` makes the runner's table equal to this list."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django_q.models import Schedule
from django_q.tasks import async_task


@dataclass(frozen=True, slots=True)
class Periodic:
    """A task function, named by its dotted path, and how often it starts."""

    name: str
    func: str
    minutes: int
    args: tuple[str, ...] = ()


CLASSIFY, CURATE, REBUILD = "classification_cycle", "curation_cycle", "rebuild_cycle"
# One worker of a cluster always stays free for tasks that are not resident.
_DRAIN_SLOTS = range(1, settings.WORKER_PROCESSES)
_PROCESS_JOBS = "apps.delivery.tasks.work_process_jobs"

SCHEDULES: tuple[Periodic, ...] = (
    *(
        Periodic(f"outbox: drain {slot}", "apps.outbox.tasks.drain", 1, args=(str(slot),))
        for slot in _DRAIN_SLOTS
    ),
    # Ends at once without MongoDB.
    Periodic("delivery: process jobs", _PROCESS_JOBS, 1),
    Periodic("delivery: sweep shared files", "apps.delivery.tasks.sweep_shared_files", 60),
    Periodic("outbox: release held events", "apps.outbox.tasks.release_held_events", 1),
    Periodic("delivery: drive rollouts", "apps.delivery.tasks.drive_rollouts", 1),
    Periodic("delivery: check domains", "apps.delivery.tasks.check_domains", 1),
    Periodic("delivery: refresh fleet", "apps.delivery.tasks.refresh_fleet", 2),
    Periodic("delivery: expire reservations", "apps.delivery.tasks.expire_reservations", 1),
    Periodic("delivery: check usage totals", "apps.delivery.tasks.check_usage_totals", 60),
    Periodic("delivery: prune usage events", "apps.delivery.tasks.prune_usage_events", 60),
    Periodic("flags: apply due steps", "apps.flags.tasks.apply_due_steps", 1),
    Periodic("stickers: classify", "apps.stickers.tasks.schedule_cycle", 2, args=(CLASSIFY,)),
    Periodic("stickers: curate", "apps.stickers.tasks.schedule_cycle", 3, args=(CURATE,)),
    Periodic("stickers: rebuild", "apps.stickers.tasks.schedule_cycle", 4, args=(REBUILD,)),
    Periodic("stickers: recover uploads", "apps.stickers.tasks.recover_uploads", 1),
    Periodic("stickers: clean up drafts", "apps.stickers.tasks.clean_drafts", 15),
    Periodic("stickers: heal object storage", "apps.stickers.tasks.heal_object_storage", 1),
    Periodic("stickers: purge deleted packs", "apps.stickers.tasks.purge_deleted_packs", 60),
    Periodic("stickers: prune opens", "apps.stickers.tasks.prune_opens", 60),
    Periodic("outbox: prune completed events", "apps.outbox.tasks.prune_completed", 60),
    Periodic("whatsapp_auth: forget by age", "apps.whatsapp_auth.tasks.prune_identities", 60),
)


def start_residents() -> None:
    """Queue what stays for each slot now; the schedule alone would take half a minute."""
    for slot in _DRAIN_SLOTS:
        async_task("apps.outbox.tasks.drain", str(slot))
    async_task(_PROCESS_JOBS)


@transaction.atomic
def sync_schedules(wanted: Sequence[Periodic] = SCHEDULES) -> int:
    """Create, mend and remove rows until they equal the list; tells how many changed.

    `repeats=-1` repeats for ever; an unchanged row keeps its next run, so syncing at every start
    delays nothing.
    """
    changed: int = 0
    for item in wanted:
        values = {
            "func": item.func,
            "schedule_type": Schedule.MINUTES,
            "minutes": item.minutes,
            "args": repr(item.args) if item.args else None,
            "repeats": -1,
        }
        found = Schedule.objects.filter(name=item.name)
        if not found.exists():
            Schedule.objects.create(name=item.name, **values)
            changed += 1
        else:
            changed += found.exclude(**values).update(**values)
    stale = Schedule.objects.exclude(name__in=[item.name for item in wanted])
    deleted: int = stale.delete()[0]
    return changed + deleted
