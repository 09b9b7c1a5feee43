"""Deciding one flag for one subject. No Django, no clock, no randomness.

Source: the feature flag service of OmniZap 2.2.5, bit for bit: names are normalised, a subject
falls into one of 100 buckets by SHA-1, and a flag of n percent is on for the buckets below n.
"""

import enum
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha1
from typing import Any

from apps.common.parsing import JS_BLANKS, js_number, js_string, js_trim, to_bool

MAX_NAME_LENGTH = 120
BUCKET_COUNT = 100
UNIT_COUNT = 100_000
FULL_PERCENT = 100
ENVIRONMENT_PREFIX = "FEATURE_"

_NOT_IN_NAME = re.compile(r"[^a-z0-9_:-]")


class Reason(enum.StrEnum):
    """Why an evaluation came out as it did."""

    KILLED = "KILLED"
    DISABLED = "DISABLED"
    DENIED = "DENIED"
    ALLOWED = "ALLOWED"
    PREREQUISITE = "PREREQUISITE"
    STATIC = "STATIC"
    SPLIT = "SPLIT"
    ENVIRONMENT = "ENVIRONMENT"
    DEFAULT = "DEFAULT"


@dataclass(frozen=True, slots=True)
class TargetingRule:
    """What a flag may have beside its row; without one it behaves exactly as the original.

    `rollout_units` counts thousandths of a percent (0 to 100,000) and replaces the row's percentage
    when set; `salt` gives the flag a cohort of its own. Listed subjects are compared as given.
    """

    is_killed: bool = False
    salt: str = ""
    rollout_units: int | None = None
    allowed: frozenset[str] = frozenset()
    denied: frozenset[str] = frozenset()
    prerequisites: tuple[str, ...] = ()
    is_client_visible: bool = False


@dataclass(frozen=True, slots=True)
class FlagDefinition:
    """A row of the flag table in its normal form; `rollout_percent` is 0 to 100."""

    flag_name: str
    is_enabled: bool
    rollout_percent: int
    rule: TargetingRule | None = None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The answer, why, and the bucket (0 to 99) where a percentage decided."""

    value: bool
    reason: Reason
    bucket: int | None = None


def normalize_flag_name(value: Any) -> str:
    """The name in lower case, with nothing but `a-z 0-9 _ : -`, at most 120 characters."""
    return _NOT_IN_NAME.sub("", js_trim(_js_text(value)).lower())[:MAX_NAME_LENGTH]


def to_percent(value: Any) -> int:
    """A whole percentage from 0 to 100; what is no finite number is 0."""
    number = js_number(value)
    if not math.isfinite(number):
        return 0
    return max(0, min(FULL_PERCENT, math.floor(number)))


def cohort_bucket(subject_key: Any) -> int:
    """The subject's bucket from 0 to 99; blank subjects share bucket 0."""
    text = subject_key if type(subject_key) is str else _js_text(subject_key)
    key = text.strip(JS_BLANKS)
    if not key:
        return 0
    try:
        raw = key.encode()
    except UnicodeEncodeError:
        raw = _utf8(key)
    return int.from_bytes(sha1(raw, usedforsecurity=False).digest()[:4], "big") % BUCKET_COUNT


def definition_of(row: Mapping[str, Any]) -> FlagDefinition | None:
    """A table row in its normal form; None when its name is empty. No percentage means 100."""
    name = normalize_flag_name(row.get("flag_name"))
    if not name:
        return None
    percent = row.get("rollout_percent")
    return FlagDefinition(
        flag_name=name,
        is_enabled=bool(to_bool(row.get("is_enabled"), fallback=False)),
        rollout_percent=to_percent(FULL_PERCENT if percent is None else percent),
    )


def with_rule(definition: FlagDefinition, rule: TargetingRule | None) -> FlagDefinition:
    """The definition with its rule; one that says nothing is left out, so that it costs nothing."""
    return replace(definition, rule=rule) if rule and rule != TargetingRule() else definition


def is_on(definition: FlagDefinition, subject_key: str = "") -> bool:
    """The value of `evaluate` alone, for the path where its reason would cost more than itself."""
    percent = definition.rollout_percent
    if not definition.is_enabled or percent <= 0:
        return False
    return percent >= FULL_PERCENT or cohort_bucket(subject_key or definition.flag_name) < percent


def evaluate(definition: FlagDefinition, subject_key: str = "") -> Evaluation:
    """Decide a flag: off when disabled, else by percentage; an empty subject is the flag's name.

    A subject of only blanks is not empty, and falls into bucket 0.
    """
    value = is_on(definition, subject_key)
    if not definition.is_enabled:
        return Evaluation(value=value, reason=Reason.DISABLED)
    if not 0 < definition.rollout_percent < FULL_PERCENT:
        return Evaluation(value=value, reason=Reason.STATIC)
    bucket = cohort_bucket(subject_key or definition.flag_name)
    return Evaluation(value=value, reason=Reason.SPLIT, bucket=bucket)


def evaluate_within(
    flags: Mapping[str, FlagDefinition], definition: FlagDefinition, subject_key: str = ""
) -> Evaluation:
    """Decide a flag with its rule.

    The kill switch wins over everything; then come the row's own switch, what the flag depends on,
    the lists, and the percentage.
    """
    rule = definition.rule
    if rule is None:
        return evaluate(definition, subject_key)
    if rule.is_killed:
        return Evaluation(value=False, reason=Reason.KILLED)
    if not definition.is_enabled:
        return Evaluation(value=False, reason=Reason.DISABLED)
    if not all(_is_on(flags, name, subject_key) for name in rule.prerequisites):
        return Evaluation(value=False, reason=Reason.PREREQUISITE)
    if subject_key in rule.denied:
        return Evaluation(value=False, reason=Reason.DENIED)
    if subject_key in rule.allowed:
        return Evaluation(value=True, reason=Reason.ALLOWED)
    return _evaluate_share(definition, rule, subject_key)


def fine_bucket(subject_key: str, *, salt: str) -> int:
    """The subject's bucket from 0 to 99,999 for a salt: by multiply-shift, without a remainder."""
    digest = sha1(_utf8(f"{salt}:{js_trim(subject_key)}"), usedforsecurity=False).digest()
    return int.from_bytes(digest[:4]) * UNIT_COUNT >> 32


def has_cycle(prerequisites: Mapping[str, Iterable[str]]) -> bool:
    """Whether flags depend on themselves by any way."""
    done: set[str] = set()

    def reaches_itself(name: str, path: tuple[str, ...]) -> bool:
        if name in path:
            return True
        if name in done:
            return False
        found = any(reaches_itself(n, (*path, name)) for n in prerequisites.get(name, ()))
        done.add(name)
        return found

    return any(reaches_itself(name, ()) for name in prerequisites)


def evaluate_missing(
    flag_name: str, environment: Mapping[str, str], *, fallback: bool
) -> Evaluation:
    """Decide a flag without a row: `FEATURE_<NAME>` in the environment, else the fallback."""
    raw = environment.get(ENVIRONMENT_PREFIX + flag_name.upper())
    value = to_bool(raw, fallback=None)
    if value is None:
        return Evaluation(value=fallback, reason=Reason.DEFAULT)
    return Evaluation(value=value, reason=Reason.ENVIRONMENT)


def _evaluate_share(
    definition: FlagDefinition, rule: TargetingRule, subject_key: str
) -> Evaluation:
    if rule.rollout_units is None and not rule.salt:
        return evaluate(definition, subject_key)
    units = rule.rollout_units
    if units is None:
        units = definition.rollout_percent * (UNIT_COUNT // FULL_PERCENT)
    if units >= UNIT_COUNT or units <= 0:
        return Evaluation(value=units > 0, reason=Reason.STATIC)
    salt = rule.salt or definition.flag_name
    bucket = fine_bucket(subject_key or definition.flag_name, salt=salt)
    return Evaluation(value=bucket < units, reason=Reason.SPLIT, bucket=bucket)


def _is_on(flags: Mapping[str, FlagDefinition], name: str, subject_key: str) -> bool:
    """A prerequisite that does not exist is off."""
    definition = flags.get(name)
    return definition is not None and evaluate_within(flags, definition, subject_key).value


def _js_text(value: Any) -> str:
    """`String(value || '')`: empty for None, zero, false and NaN, but not for empty lists."""
    is_falsy = not value and not isinstance(value, list | dict)
    is_nan = isinstance(value, float) and math.isnan(value)
    return "" if is_falsy or is_nan else js_string(value)


def _utf8(text: str) -> bytes:
    """UTF-8 as Node writes it: a lone surrogate becomes U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
