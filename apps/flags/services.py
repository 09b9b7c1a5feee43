"""Reading and changing flags."""

import logging
import os
import time
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import transaction

from apps.flags import errors, evaluation
from apps.flags.cache import FlagCache, Snapshot
from apps.flags.choices import ChangeAction
from apps.flags.evaluation import Evaluation, Reason, normalize_flag_name
from apps.flags.models import FeatureFlag
from apps.flags.signals import flag_changed

logger = logging.getLogger(__name__)


def is_enabled(flag_name: str, *, subject_key: str = "", fallback: bool = False) -> bool:
    """Whether the subject has the feature; the fallback where nobody has decided. Never raises."""
    return evaluate(flag_name, subject_key=subject_key, fallback=fallback).value


def evaluate(flag_name: str, *, subject_key: str = "", fallback: bool = False) -> Evaluation:
    """The same answer with its reason and bucket."""
    flags = flag_cache.get()
    # Code nearly always names a flag in its normal form; only others pay for normalising.
    definition = flags.get(flag_name) or flags.get(name := normalize_flag_name(flag_name))
    if definition is not None:
        return evaluation.evaluate(definition, subject_key)
    if not name:
        return Evaluation(value=bool(fallback), reason=Reason.DEFAULT)
    return evaluation.evaluate_missing(name, os.environ, fallback=fallback)


def snapshot() -> Snapshot:
    """All flags by name, as this process knows them."""
    return flag_cache.get()


def refresh(*, force: bool = False) -> Snapshot:
    """Load the flags again if they are stale, or in any case with `force`."""
    return flag_cache.refresh(force=force)


@transaction.atomic
def set_flag(
    flag_name: str,
    *,
    actor: str,
    is_enabled: bool | None = None,
    rollout_percent: int | None = None,
    description: str | None = None,
) -> FeatureFlag:
    """Create or change a flag; what is not given stays. Raises InvalidFlagName, InvalidPercent."""
    name = normalize_flag_name(flag_name)
    if not name:
        raise errors.InvalidFlagName(flag_name)
    if rollout_percent is not None and not 0 <= rollout_percent <= evaluation.FULL_PERCENT:
        raise errors.InvalidPercent(rollout_percent)
    flag = FeatureFlag.objects.select_for_update().filter(flag_name=name).first()
    before = _state(flag)
    flag = flag or FeatureFlag(flag_name=name)
    flag.is_enabled = flag.is_enabled if is_enabled is None else is_enabled
    flag.rollout_percent = flag.rollout_percent if rollout_percent is None else rollout_percent
    flag.description = flag.description if description is None else description
    flag.updated_by = actor
    flag.save()
    _announce(name, before, _state(flag), actor)
    return flag


@transaction.atomic
def delete_flag(flag_name: str, *, actor: str) -> None:
    """Remove a flag: the environment or the code's fallback decides. Raises FlagNotFound."""
    flag = FeatureFlag.objects.select_for_update().filter(flag_name=flag_name).first()
    if flag is None:
        raise errors.FlagNotFound(flag_name)
    before = _state(flag)
    flag.delete()
    _announce(flag_name, before, None, actor)


def _state(flag: FeatureFlag | None) -> Mapping[str, Any] | None:
    if flag is None:
        return None
    return {"is_enabled": flag.is_enabled, "rollout_percent": flag.rollout_percent}


def _announce(
    name: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None, actor: str
) -> None:
    action = ChangeAction.CHANGED
    if before is None:
        action = ChangeAction.CREATED
    elif after is None:
        action = ChangeAction.DELETED
    flag_changed.send(
        FeatureFlag, flag_name=name, action=action.value, before=before, after=after, actor=actor
    )
    transaction.on_commit(flag_cache.clear)


def _load() -> Snapshot:
    rows = FeatureFlag.objects.order_by("pk").values("flag_name", "is_enabled", "rollout_percent")
    definitions = filter(None, map(evaluation.definition_of, rows))
    return {definition.flag_name: definition for definition in definitions}


def _log_failure(error: Exception) -> None:
    logger.warning("flags.refresh_failed", extra={"error": type(error).__name__})


flag_cache = FlagCache(
    _load,
    ttl_seconds=settings.FEATURE_FLAG_CACHE_TTL_MS / 1000,
    clock=time.monotonic,
    on_error=_log_failure,
)
