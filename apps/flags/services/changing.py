"""Changing flags: each change locks the flag, is written down, and told in its transaction."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from django.db import transaction

from apps.common.observability import current_request_id
from apps.flags import errors, evaluation
from apps.flags.choices import OPEN_STATES, ChangeAction, StepStatus
from apps.flags.evaluation import normalize_flag_name
from apps.flags.models import FeatureFlag, FlagChange, FlagRule, RolloutStep
from apps.flags.services.evaluating import announce_change
from apps.flags.signals import flag_changed

State = Mapping[str, Any]

ROW_FIELDS = ("is_enabled", "rollout_percent", "description")
RULE_FIELDS = (
    "is_killed",
    "salt",
    "rollout_units",
    "allowed",
    "denied",
    "prerequisites",
    "is_client_visible",
    "owner",
    "expires_on",
    "tags",
)


@transaction.atomic
def set_flag(
    flag_name: str,
    *,
    actor: str,
    is_enabled: bool | None = None,
    rollout_percent: int | None = None,
    description: str | None = None,
    reason: str = "",
    action: ChangeAction = ChangeAction.CHANGED,
) -> FeatureFlag:
    """Create or change a flag; what is not given stays. Raises InvalidFlagName, InvalidPercent."""
    name = _normal_name(flag_name)
    if rollout_percent is not None and not 0 <= rollout_percent <= evaluation.FULL_PERCENT:
        raise errors.InvalidPercent(rollout_percent)
    # Made first, so that of two who create it at once the second finds and locks the row.
    _row, is_new = FeatureFlag.objects.get_or_create(flag_name=name)
    flag = FeatureFlag.objects.select_for_update().get(flag_name=name)
    before = None if is_new else _state(flag)
    flag.is_enabled = flag.is_enabled if is_enabled is None else is_enabled
    flag.rollout_percent = flag.rollout_percent if rollout_percent is None else rollout_percent
    flag.description = flag.description if description is None else description
    flag.updated_by = actor
    flag.save()
    write_down(name, action, before, _state(flag), actor=actor, reason=reason)
    return flag


@transaction.atomic
def delete_flag(flag_name: str, *, actor: str, reason: str = "") -> None:
    """Remove a flag with its rule and plan: the environment or the code's fallback decides.

    Rule and row are logged apart, so that either can be brought back. Raises FlagNotFound.
    """
    flag = lock_flag(flag_name)
    give_up_steps(flag.flag_name)
    gone = {"actor": actor, "reason": reason}
    for rule in FlagRule.objects.filter(flag_name=flag.flag_name):
        write_down(flag.flag_name, ChangeAction.DELETED, _rule_state(rule), None, **gone)
        rule.delete()
    write_down(flag.flag_name, ChangeAction.DELETED, _state(flag), None, **gone)
    flag.delete()


@transaction.atomic
def set_rule(
    flag_name: str,
    *,
    actor: str,
    reason: str = "",
    action: ChangeAction = ChangeAction.TARGETED,
    **values: Any,
) -> FlagRule:
    """Change what a flag has beside its row; what is not given stays.

    Raises what `check_rule` raises; TypeError for a field that no rule has.
    """
    if unknown := sorted(set(values) - set(RULE_FIELDS)):
        raise TypeError(f"a rule has no {', '.join(unknown)}")
    if values.get("prerequisites"):
        _lock_all_flags()
    flag = lock_flag(flag_name)
    rule, _created = FlagRule.objects.get_or_create(flag_name=flag.flag_name)
    before = _rule_state(rule)
    for name, value in values.items():
        setattr(rule, name, value)
    check_rule(rule)
    rule.save()
    write_down(flag.flag_name, action, before, _rule_state(rule), actor=actor, reason=reason)
    return rule


def check_rule(rule: FlagRule) -> None:
    """Bring the names in a rule to their form, and raise what forbids to store it.

    Raises FlagNotFound, InvalidFlagName, InvalidUnits, PrerequisiteCycle.
    """
    rule.flag_name = _normal_name(rule.flag_name)
    if not FeatureFlag.objects.filter(flag_name=rule.flag_name).exists():
        raise errors.FlagNotFound(rule.flag_name)
    if rule.rollout_units is not None and not 0 <= rule.rollout_units <= evaluation.UNIT_COUNT:
        raise errors.InvalidUnits(rule.rollout_units)
    rule.prerequisites = [_normal_name(name) for name in rule.prerequisites]
    if rule.prerequisites:
        _check_cycle(rule.flag_name, rule.prerequisites)


def kill_flags(flag_names: Sequence[str], *, actor: str, reason: str) -> int:
    """Switch flags off for everybody at once; tells how many were not killed before."""
    return _switch(flag_names, ChangeAction.KILLED, actor=actor, reason=reason)


def revive_flags(flag_names: Sequence[str], *, actor: str, reason: str) -> int:
    """Take the kill switch back; tells how many were killed."""
    return _switch(flag_names, ChangeAction.REVIVED, actor=actor, reason=reason)


@transaction.atomic
def revert_change(change_id: int, *, actor: str, reason: str) -> FlagChange:
    """Bring a flag back to what it was before a change. Raises ChangeNotRevertible."""
    change = FlagChange.objects.filter(pk=change_id).first()
    if change is None or not change.before:
        raise errors.ChangeNotRevertible(change_id)
    values = dict(change.before)
    if set(values) <= set(ROW_FIELDS):
        set_flag(
            change.flag_name, actor=actor, reason=reason, action=ChangeAction.REVERTED, **values
        )
    else:
        if values.get("expires_on"):
            values["expires_on"] = date.fromisoformat(values["expires_on"])
        set_rule(
            change.flag_name, actor=actor, reason=reason, action=ChangeAction.REVERTED, **values
        )
    return FlagChange.objects.filter(flag_name=change.flag_name).latest("pk")


def lock_flag(flag_name: str) -> FeatureFlag:
    """The flag with its row locked. Raises FlagNotFound."""
    name = normalize_flag_name(flag_name)
    flag = FeatureFlag.objects.select_for_update().filter(flag_name=name).first()
    if flag is None:
        raise errors.FlagNotFound(flag_name)
    return flag


def give_up_steps(flag_name: str) -> int:
    """End what is still planned for a flag; tells how many steps."""
    steps = RolloutStep.objects.filter(flag_name=flag_name, status__in=OPEN_STATES)
    return steps.update(status=StepStatus.ABORTED)


@transaction.atomic
def _switch(flag_names: Sequence[str], action: ChangeAction, *, actor: str, reason: str) -> int:
    is_killed = action == ChangeAction.KILLED
    killed = set(FlagRule.objects.filter(is_killed=True).values_list("flag_name", flat=True))
    chosen = sorted(name for name in flag_names if (name in killed) != is_killed)
    for name in chosen:
        set_rule(name, actor=actor, reason=reason, action=action, is_killed=is_killed)
    return len(chosen)


def _normal_name(flag_name: str) -> str:
    name = normalize_flag_name(flag_name)
    if not name:
        raise errors.InvalidFlagName(flag_name)
    return name


def _lock_all_flags() -> None:
    """Let rules with prerequisites take turns: two that close a circle are each fine alone."""
    list(FeatureFlag.objects.select_for_update().order_by("flag_name").values_list("pk"))


def _check_cycle(flag_name: str, prerequisites: Sequence[str]) -> None:
    others = FlagRule.objects.exclude(flag_name=flag_name)
    graph: dict[str, Sequence[str]] = dict(others.values_list("flag_name", "prerequisites"))
    graph[flag_name] = prerequisites
    if evaluation.has_cycle(graph):
        raise errors.PrerequisiteCycle(flag_name)


def _state(flag: FeatureFlag | None) -> State | None:
    return {name: getattr(flag, name) for name in ROW_FIELDS} if flag else None


def _rule_state(rule: FlagRule) -> State:
    expires = rule.expires_on
    values = {name: getattr(rule, name) for name in RULE_FIELDS}
    return values | {"expires_on": expires.isoformat() if expires else None}


def write_down(
    name: str,
    action: ChangeAction,
    before: State | None,
    after: State | None,
    *,
    actor: str,
    reason: str,
) -> None:
    """Log the change, tell it to whoever listens, and refresh the caches after the commit."""
    if before is None and action == ChangeAction.CHANGED:
        action = ChangeAction.CREATED
    FlagChange.objects.create(
        flag_name=name,
        action=action,
        actor=actor,
        reason=reason,
        request_id=current_request_id(),
        before=before,
        after=after,
    )
    flag_changed.send(
        FeatureFlag, flag_name=name, action=str(action), before=before, after=after, actor=actor
    )
    transaction.on_commit(announce_change)
