"""Planned rollouts: percentages that a flag takes at given times, applied once and in order."""

import itertools
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from apps.flags import errors, evaluation
from apps.flags.choices import ChangeAction, StepStatus
from apps.flags.models import RolloutStep
from apps.flags.services.changing import give_up_steps, lock_flag, set_flag, write_down


@transaction.atomic
def plan_rollout(
    flag_name: str, steps: Sequence[tuple[datetime, int]], *, actor: str, now: datetime
) -> list[RolloutStep]:
    """Plan percentages at times, in place of what was planned before.

    Raises FlagNotFound, InvalidPercent, StepsNotOrdered.
    """
    times = [now, *(due_at for due_at, _percent in steps)]
    if not steps or any(later <= earlier for earlier, later in itertools.pairwise(times)):
        raise errors.StepsNotOrdered
    for _due_at, percent in steps:
        if not 0 <= percent <= evaluation.FULL_PERCENT:
            raise errors.InvalidPercent(percent)
    flag = lock_flag(flag_name)  # two planners take turns, so one plan at most is open
    give_up_steps(flag.flag_name)
    rows = [
        RolloutStep(flag_name=flag.flag_name, rollout_percent=percent, due_at=due_at, actor=actor)
        for due_at, percent in steps
    ]
    for row in rows:
        row.save()
    _logged(len(rows), flag.flag_name, ChangeAction.PLANNED, actor=actor)
    return rows


@transaction.atomic
def pause_rollout(flag_name: str, *, actor: str) -> int:
    """Stop the steps that are still to come; tells how many."""
    steps = RolloutStep.objects.filter(flag_name=flag_name, status=StepStatus.PENDING)
    count = steps.update(status=StepStatus.PAUSED)
    return _logged(count, flag_name, ChangeAction.PAUSED, actor=actor)


@transaction.atomic
def resume_rollout(flag_name: str, *, actor: str) -> int:
    """Take the steps up again; those that fell due meanwhile are applied at once, in order."""
    steps = RolloutStep.objects.filter(flag_name=flag_name, status=StepStatus.PAUSED)
    count = steps.update(status=StepStatus.PENDING)
    return _logged(count, flag_name, ChangeAction.RESUMED, actor=actor)


@transaction.atomic
def abort_rollout(flag_name: str, *, actor: str) -> int:
    """Give up what is still to come; the percentage stays where it is."""
    count = give_up_steps(flag_name)
    return _logged(count, flag_name, ChangeAction.ABORTED, actor=actor)


def apply_due_steps(*, now: datetime) -> int:
    """Apply every step that is due, in order, each exactly once; tells how many.

    After an outage all missed steps of a flag are applied one after another, so its log shows them.
    """
    due = RolloutStep.objects.filter(status=StepStatus.PENDING, due_at__lte=now)
    names = due.order_by("flag_name").values_list("flag_name", flat=True).distinct()
    return sum(_apply_steps_of(name, now=now) for name in list(names))


@transaction.atomic
def _apply_steps_of(flag_name: str, *, now: datetime) -> int:
    try:
        flag = lock_flag(flag_name)
    except errors.FlagNotFound:
        give_up_steps(flag_name)
        return 0
    # Read under the lock: another worker may have applied them while we waited for it.
    steps = RolloutStep.objects.filter(
        flag_name=flag.flag_name, status=StepStatus.PENDING, due_at__lte=now
    ).order_by("due_at", "pk")
    count = 0
    for step in steps:
        set_flag(
            flag.flag_name,
            actor=step.actor,
            rollout_percent=step.rollout_percent,
            reason=f"planned for {step.due_at:%Y-%m-%d %H:%M} UTC",
            action=ChangeAction.STEPPED,
        )
        RolloutStep.objects.filter(pk=step.pk).update(status=StepStatus.APPLIED, applied_at=now)
        count += 1
    return count


def _logged(count: int, flag_name: str, action: ChangeAction, *, actor: str) -> int:
    """Write down that so many steps moved, unless none did."""
    if count:
        steps = RolloutStep.objects.filter(flag_name=flag_name).exclude(status=StepStatus.APPLIED)
        planned = [
            {
                "due_at": step.due_at.isoformat(),
                "rollout_percent": step.rollout_percent,
                "status": step.status,
            }
            for step in steps
        ]
        write_down(flag_name, action, None, {"steps": planned}, actor=actor, reason="")
    return count
