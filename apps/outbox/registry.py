"""Which function handles which event type; filled by each app's `handlers.py` at the start."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from apps.outbox.events import Event
from apps.outbox.retry import DEFAULT_POLICY, RetryPolicy

F = TypeVar("F", bound=Callable[..., None])
OnDead = Literal["block", "skip"]
ANY_TYPE = "*"


@dataclass(frozen=True, slots=True)
class Handler:
    """A function and how it wants its events.

    `batch`: it takes a list of events, one for each distinct aggregate of a claim, the latest.
    `ordered`: events of one aggregate reach it one after another, by id; a dead one blocks those
    behind it (`on_dead="block"`) or is passed over (`"skip"`). `transactional`: its effect and the
    event's completion share one transaction, so that the effect is applied exactly once. A call
    that takes longer than `timeout_seconds` fails. `only_if` narrows the types down to some events.
    """

    name: str
    function: Callable[[Any], None]
    event_types: frozenset[str]
    batch: bool = False
    ordered: bool = False
    transactional: bool = False
    on_dead: OnDead = "block"
    retry: RetryPolicy = DEFAULT_POLICY
    timeout_seconds: float | None = None
    only_if: Callable[[Event], bool] | None = None

    def wants(self, event: Event) -> bool:
        """Whether the event's type is one of the handler's and nothing speaks against it."""
        is_taken = self.takes(event.event_type)
        return is_taken and (self.only_if is None or self.only_if(event))

    def takes(self, event_type: str) -> bool:
        """Whether the handler is registered for the type, or for all."""
        return event_type in self.event_types or ANY_TYPE in self.event_types


_handlers: dict[str, Handler] = {}


def handles(
    *event_types: str,
    batch: bool = False,
    ordered: bool = False,
    transactional: bool = False,
    on_dead: OnDead = "block",
    retry: RetryPolicy = DEFAULT_POLICY,
    timeout_seconds: float | None = None,
    only_if: Callable[[Event], bool] | None = None,
) -> Callable[[F], F]:
    """Register a function for event types (`"*"` for all); its dotted name identifies it for ever.

    Handled events are delivered at least once unless `transactional`, so running twice must be
    harmless. Raises ValueError for a combination that cannot be kept.
    """
    if batch and (ordered or transactional):
        raise ValueError("A batch handler can be neither ordered nor transactional.")

    def register(function: F) -> F:
        name = f"{function.__module__}.{function.__qualname__}"
        _handlers[name] = Handler(
            name=name,
            function=function,
            event_types=frozenset(event_types),
            batch=batch,
            ordered=ordered,
            transactional=transactional,
            on_dead=on_dead,
            retry=retry,
            timeout_seconds=timeout_seconds,
            only_if=only_if,
        )
        return function

    return register


def registered() -> Sequence[Handler]:
    """All handlers, in the order in which they were registered."""
    return list(_handlers.values())


def handlers_of(event: Event) -> Iterator[Handler]:
    """The handlers that want an event."""
    return (handler for handler in _handlers.values() if handler.wants(event))


def forget(name: str) -> None:
    """Take a handler out again; tests clean up with it."""
    _handlers.pop(name, None)
