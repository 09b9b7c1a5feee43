"""Which function recalculates which model; filled by the apps' `process_runners.py`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from apps.delivery.errors import NoProcessRunner

Recalculate = Callable[[Any, Mapping[str, Any] | None], object]
F = TypeVar("F", bound=Recalculate)


@dataclass(frozen=True, slots=True)
class ProcessRunner:
    """A function of selectors and access context, and the permission that a person needs for it.

    It runs at least once for each job, never twice at once for one target, and may run again after
    a crash: it must read the present state and write the whole result.
    """

    model_name: str
    function: Recalculate
    permission: str


_runners: dict[str, ProcessRunner] = {}


def process_runner(model_name: str, *, permission: str) -> Callable[[F], F]:
    """Register the function that recalculates a model; a second one replaces the first."""

    def register(function: F) -> F:
        _runners[model_name] = ProcessRunner(model_name, function, permission)
        return function

    return register


def runner_of(model_name: str) -> ProcessRunner:
    """The runner of a model. Raises NoProcessRunner."""
    if model_name not in _runners:
        raise NoProcessRunner(model_name)
    return _runners[model_name]


def registered_models() -> frozenset[str]:
    """The models that have a runner."""
    return frozenset(_runners)


def forget(model_name: str) -> None:
    """Take a runner out again; tests clean up with it."""
    _runners.pop(model_name, None)
