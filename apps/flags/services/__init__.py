"""Everything that reads and changes flags."""

from apps.flags.services.changing import (
    check_rule,
    delete_flag,
    kill_flags,
    revert_change,
    revive_flags,
    set_flag,
    set_rule,
)
from apps.flags.services.evaluating import (
    evaluate,
    flag_cache,
    is_enabled,
    refresh,
    snapshot,
)
from apps.flags.services.rollouts import (
    abort_rollout,
    apply_due_steps,
    pause_rollout,
    plan_rollout,
    resume_rollout,
)
from apps.flags.services.usage import WebUsage, record_usage

__all__ = [
    "WebUsage",
    "abort_rollout",
    "apply_due_steps",
    "check_rule",
    "delete_flag",
    "evaluate",
    "flag_cache",
    "is_enabled",
    "kill_flags",
    "pause_rollout",
    "plan_rollout",
    "record_usage",
    "refresh",
    "resume_rollout",
    "revert_change",
    "revive_flags",
    "set_flag",
    "set_rule",
    "snapshot",
]
