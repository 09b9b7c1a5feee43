"""Deciding one flag for one subject. No Django, no clock, no randomness.

Source: the feature flag service of OmniZap 2.2.5, bit for bit: names are normalised, a subject
falls into one of 100 buckets by SHA-1, and a flag of n percent is on for the buckets below n.
"""

import enum
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha1
from typing import Any

from apps.common.parsing import js_number, js_string, js_trim, to_bool

MAX_NAME_LENGTH = 120
BUCKET_COUNT = 100
FULL_PERCENT = 100
ENVIRONMENT_PREFIX = "FEATURE_"

_NOT_IN_NAME = re.compile(r"[^a-z0-9_:-]")


class Reason(enum.StrEnum):
    """Why an evaluation came out as it did."""

    DISABLED = "DISABLED"
    STATIC = "STATIC"
    SPLIT = "SPLIT"
    ENVIRONMENT = "ENVIRONMENT"
    DEFAULT = "DEFAULT"


@dataclass(frozen=True, slots=True)
class FlagDefinition:
    """A row of the flag table in its normal form; `rollout_percent` is 0 to 100."""

    flag_name: str
    is_enabled: bool
    rollout_percent: int


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
    key = js_trim(subject_key if isinstance(subject_key, str) else _js_text(subject_key))
    if not key:
        return 0
    return int.from_bytes(sha1(_utf8(key), usedforsecurity=False).digest()[:4]) % BUCKET_COUNT


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


def evaluate(definition: FlagDefinition, subject_key: str = "") -> Evaluation:
    """Decide a flag: off when disabled, else by percentage; an empty subject is the flag's name.

    A subject of only blanks is not empty, and falls into bucket 0.
    """
    if not definition.is_enabled:
        return Evaluation(value=False, reason=Reason.DISABLED)
    percent = definition.rollout_percent
    if percent >= FULL_PERCENT or percent <= 0:
        return Evaluation(value=percent > 0, reason=Reason.STATIC)
    bucket = cohort_bucket(subject_key or definition.flag_name)
    return Evaluation(value=bucket < percent, reason=Reason.SPLIT, bucket=bucket)


def evaluate_missing(
    flag_name: str, environment: Mapping[str, str], *, fallback: bool
) -> Evaluation:
    """Decide a flag without a row: `FEATURE_<NAME>` in the environment, else the fallback."""
    raw = environment.get(ENVIRONMENT_PREFIX + flag_name.upper())
    value = to_bool(raw, fallback=None)
    if value is None:
        return Evaluation(value=fallback, reason=Reason.DEFAULT)
    return Evaluation(value=value, reason=Reason.ENVIRONMENT)


def _js_text(value: Any) -> str:
    """`String(value || '')`: empty for None, zero, false and NaN, but not for empty lists."""
    is_falsy = not value and not isinstance(value, list | dict)
    is_nan = isinstance(value, float) and math.isnan(value)
    return "" if is_falsy or is_nan else js_string(value)


def _utf8(text: str) -> bytes:
    """UTF-8 as Node writes it: a lone surrogate becomes U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
