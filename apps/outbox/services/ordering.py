"""Order within an aggregate, for handlers that ask for it."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.outbox.choices import LeaseStatus
from apps.outbox.events import Event
from apps.outbox.models import HandlerState, OutboxEvent
from apps.outbox.registry import ANY_TYPE, Handler

Aggregate = tuple[str, str]
BLOCKED_DELAY_SECONDS = 1
# A dead event stays until a person decides: what waits behind it need not ask every second.
DEAD_BLOCK_DELAY_SECONDS = 15


@dataclass(frozen=True, slots=True)
class Blocker:
    """The event that those behind it in their aggregate wait for."""

    event_id: int
    is_dead: bool = False

    @property
    def delay_seconds(self) -> int:
        """How long those behind it rest before they look again."""
        return DEAD_BLOCK_DELAY_SECONDS if self.is_dead else BLOCKED_DELAY_SECONDS


def blocked_aggregates(handler: Handler, events: Sequence[Event]) -> dict[Aggregate, Blocker]:
    """For each aggregate, the first event outside these that the handler has not done.

    Dead ones count when the handler blocks on them. Ids of aggregates are compared byte for byte:
    the column compares without case.
    """
    unfinished = [LeaseStatus.PENDING, LeaseStatus.PROCESSING]
    if handler.on_dead == "block":
        unfinished.append(LeaseStatus.FAILED)
    rows = OutboxEvent.objects.filter(
        aggregate_type__in={event.aggregate_type for event in events},
        aggregate_id__in={event.aggregate_id for event in events},
        status__in=unfinished,
        pk__lt=max(event.id for event in events),
    ).exclude(pk__in=[event.id for event in events])
    done = HandlerState.objects.filter(handler=handler.name, is_done=True)
    rows = rows.exclude(pk__in=done.values("event_id"))
    if ANY_TYPE not in handler.event_types:
        rows = rows.filter(event_type__in=handler.event_types)
    first: dict[Aggregate, Blocker] = {}
    columns = ("aggregate_type", "aggregate_id", "pk", "status")
    for kind, key, pk, status in rows.order_by("-pk").values_list(*columns):
        first[kind, key] = Blocker(pk, is_dead=status == LeaseStatus.FAILED)
    return first
