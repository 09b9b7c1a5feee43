"""What operators ask of flags."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from apps.flags import evaluation
from apps.flags.evaluation import FlagDefinition
from apps.flags.models import FeatureFlag, FlagChange, FlagRule, FlagUsage

PREVIEW_SUBJECTS = 10_000


@dataclass(frozen=True, slots=True)
class StaleRow:
    """A flag that could be removed, and why one thinks so."""

    flag_name: str
    reason: str
    since: date
    owner: str


def stale_flags(*, now: datetime, unchanged_for: timedelta) -> Sequence[StaleRow]:
    """Flags past their expiry, fully on or off and untouched, or not asked for, for so long."""
    rules = FlagRule.objects.in_bulk()
    usage = FlagUsage.objects.in_bulk()
    limit = now - unchanged_for
    rows = []
    for flag in FeatureFlag.objects.order_by("flag_name"):
        owner = rules[flag.flag_name].owner if flag.flag_name in rules else ""
        for reason, since in _staleness(
            flag, rules.get(flag.flag_name), usage.get(flag.flag_name), limit, now.date()
        ):
            rows.append(StaleRow(flag.flag_name, reason, since, owner))
            break
    return rows


def _staleness(
    flag: FeatureFlag,
    rule: FlagRule | None,
    usage: FlagUsage | None,
    limit: datetime,
    today: date,
) -> Sequence[tuple[str, date]]:
    found = []
    if rule and rule.expires_on and rule.expires_on <= today:
        found.append(("expired", rule.expires_on))
    is_settled = not flag.is_enabled or flag.rollout_percent in (0, evaluation.FULL_PERCENT)
    if is_settled and flag.updated_at < limit:
        found.append(("settled", flag.updated_at.date()))
    if usage and usage.last_evaluated_on < limit.date():
        found.append(("unused", usage.last_evaluated_on))
    return found


def preview_count(
    definition: FlagDefinition,
    flags: Mapping[str, FlagDefinition],
    *,
    subjects: int = PREVIEW_SUBJECTS,
) -> int:
    """Of so many made-up subjects, how many would have the feature beside the other flags."""
    return sum(
        evaluation.evaluate_within(flags, definition, f"subject-{number}").value
        for number in range(subjects)
    )


def percent_history(flag_name: str, *, limit: int = 100) -> Sequence[tuple[datetime, int]]:
    """When the flag's percentage became what, oldest first; 0 while it was switched off."""
    changes = FlagChange.objects.filter(flag_name=flag_name, after__has_key="rollout_percent")
    points = [
        (change.created_at, after["rollout_percent"] if after["is_enabled"] else 0)
        for change in changes[:limit]
        if (after := change.after)
    ]
    return points[::-1]
