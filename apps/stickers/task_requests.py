"""A request for a worker task in its normal form. Pure, but for the task types.

Source: the worker task queue of OmniZap 2.2.5 (vectors `d_enqueue_task`); keys follow the rule of
the outbox, so that different keys never collide.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.common.parsing import js_number, js_trim
from apps.outbox.events import normalize_key
from apps.stickers.choices import WorkerTaskType

DEFAULT_PRIORITY, HIGHEST_PRIORITY = 50, 100
DEFAULT_ATTEMPTS, MOST_ATTEMPTS = 5, 20


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """What is written into the queue; without a key equal requests fall onto each other."""

    task_type: WorkerTaskType
    priority: int
    max_attempts: int
    payload: Mapping[str, Any]
    idempotency_key: str | None = None


def normalize_task(
    task_type: Any,
    *,
    priority: Any = DEFAULT_PRIORITY,
    max_attempts: Any = DEFAULT_ATTEMPTS,
    payload: Mapping[str, Any] | None = None,
    idempotency_key: Any = None,
) -> TaskRequest | None:
    """The request with its numbers within bounds, or None for a type that there is not."""
    name = js_trim(str(task_type)).lower()
    if name not in WorkerTaskType.values:
        return None
    return TaskRequest(
        task_type=WorkerTaskType(name),
        priority=_bounded(priority, DEFAULT_PRIORITY, HIGHEST_PRIORITY),
        max_attempts=_bounded(max_attempts, DEFAULT_ATTEMPTS, MOST_ATTEMPTS),
        payload=dict(payload or {}),
        idempotency_key=normalize_key(idempotency_key),
    )


def _bounded(value: Any, default: int, high: int) -> int:
    number = js_number(value)
    return default if math.isnan(number) else int(max(1, min(high, number)))
