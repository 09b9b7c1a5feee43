"""What operators decide about automatic packs: pause, resume, approve, run the curation again."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from apps.stickers.choices import WorkerTaskType
from apps.stickers.models import AutoPackControl
from apps.stickers.services.curation_scene import auto_packs
from apps.stickers.services.worker_tasks import enqueue_task


@transaction.atomic
def pause_packs(pack_ids: Sequence[str], *, actor: str, reason: str, now: datetime) -> int:
    """Have the curation leave these packs and their themes alone; tells how many changed."""
    return _set(pack_ids, {"is_paused": True}, actor=actor, reason=reason, now=now)


@transaction.atomic
def resume_packs(pack_ids: Sequence[str], *, actor: str, reason: str, now: datetime) -> int:
    """Give paused packs back to the curation, which runs soon; tells how many changed."""
    count = _set(pack_ids, {"is_paused": False}, actor=actor, reason=reason, now=now)
    if count:
        enqueue_task(WorkerTaskType.CURATION_CYCLE)
    return count


@transaction.atomic
def approve_packs(pack_ids: Sequence[str], *, actor: str, reason: str, now: datetime) -> int:
    """Let these packs be published once they are complete; tells how many changed."""
    count = _set(pack_ids, {"is_approved": True}, actor=actor, reason=reason, now=now)
    if count:
        enqueue_task(WorkerTaskType.CURATION_CYCLE)
    return count


def _set(
    pack_ids: Sequence[str], values: dict[str, bool], *, actor: str, reason: str, now: datetime
) -> int:
    changed = 0
    for pack in auto_packs().select_for_update().filter(pk__in=pack_ids).order_by("pk"):
        control = AutoPackControl.objects.filter(pack=pack).first() or AutoPackControl(pack=pack)
        if all(getattr(control, name) == value for name, value in values.items()):
            continue
        for name, value in values.items():
            setattr(control, name, value)
        control.actor, control.reason, control.decided_at = actor, reason, now
        control.save()
        changed += 1
    return changed
