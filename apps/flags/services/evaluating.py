"""Asking for flags: from the snapshot of this process, never from the database."""

import logging
import os
import time

from django.conf import settings
from django.core.cache import cache as shared_cache
from django.db import connection

from apps.flags import evaluation
from apps.flags.cache import FlagCache, Snapshot
from apps.flags.evaluation import Evaluation, FlagDefinition, Reason, normalize_flag_name
from apps.flags.models import FeatureFlag, FlagRule
from apps.flags.sampling import asked_flags

logger = logging.getLogger(__name__)

VERSION_KEY = "flags:version"
# How often a process asks the shared cache whether a flag changed elsewhere.
VERSION_CHECK_SECONDS = 0.5


def is_enabled(flag_name: str, *, subject_key: str = "", fallback: bool = False) -> bool:
    """Whether the subject has the feature; the fallback where nobody has decided. Never raises."""
    definition = flag_cache.get().get(flag_name)
    if definition is None or definition.rule is not None:
        return evaluate(flag_name, subject_key=subject_key, fallback=fallback).value
    asked_flags.add(flag_name)
    return evaluation.is_on(definition, subject_key)


def evaluate(flag_name: str, *, subject_key: str = "", fallback: bool = False) -> Evaluation:
    """The same answer with its reason and bucket."""
    flags = flag_cache.get()
    definition = flags.get(flag_name)
    if definition is None:
        # Code nearly always names a flag in its normal form; only others pay for normalising.
        name = normalize_flag_name(flag_name)
        definition = flags.get(name)
        if definition is None:
            return _evaluate_absent(name, fallback=fallback)
    asked_flags.add(definition.flag_name)
    if definition.rule is None:
        return evaluation.evaluate(definition, subject_key)
    return evaluation.evaluate_within(flags, definition, subject_key)


def snapshot() -> Snapshot:
    """All flags by name, as this process knows them."""
    return flag_cache.get()


def refresh(*, force: bool = False) -> Snapshot:
    """Load the flags again if they are stale, or in any case with `force`."""
    return flag_cache.refresh(force=force)


def announce_change() -> None:
    """Make this process and, through the shared cache, all others load the flags anew."""
    flag_cache.clear()
    if settings.REDIS_URL:
        try:
            shared_cache.set(VERSION_KEY, time.time_ns(), timeout=None)
        except Exception as error:  # noqa: BLE001 (without it others see the change a little later)
            log_failure(error)


def shared_version() -> object:
    """What the shared cache says of the last change; None without a shared cache."""
    return shared_cache.get(VERSION_KEY) if settings.REDIS_URL else None


def load_flags() -> Snapshot:
    """All flags with their rules, in two queries."""
    # Outside of requests nobody else gives a connection up that the server has broken.
    if not connection.in_atomic_block:
        connection.close_if_unusable_or_obsolete()
    rules = {row.flag_name: _rule(row) for row in FlagRule.objects.all()}
    flags: dict[str, FlagDefinition] = {}
    rows = FeatureFlag.objects.order_by("pk").values("flag_name", "is_enabled", "rollout_percent")
    for row in rows:
        definition = evaluation.definition_of(row)
        if definition is not None:
            name = definition.flag_name
            flags[name] = evaluation.with_rule(definition, rules.get(name))
    return flags


def log_failure(error: Exception) -> None:
    """Say that flags could not be refreshed; answers stay what they were."""
    logger.warning("flags.refresh_failed", extra={"error": type(error).__name__})


def _evaluate_absent(name: str, *, fallback: bool) -> Evaluation:
    if not name:
        return Evaluation(value=bool(fallback), reason=Reason.DEFAULT)
    return evaluation.evaluate_missing(name, os.environ, fallback=fallback)


def _rule(row: FlagRule) -> evaluation.TargetingRule:
    return evaluation.TargetingRule(
        is_killed=row.is_killed,
        salt=row.salt,
        rollout_units=row.rollout_units,
        allowed=frozenset(row.allowed),
        denied=frozenset(row.denied),
        prerequisites=tuple(row.prerequisites),
        is_client_visible=row.is_client_visible,
    )


flag_cache = FlagCache(
    load_flags,
    ttl_seconds=settings.FEATURE_FLAG_CACHE_TTL_MS / 1000,
    clock=time.monotonic,
    on_error=log_failure,
    version=shared_version if settings.REDIS_URL else None,
    version_seconds=VERSION_CHECK_SECONDS,
)
