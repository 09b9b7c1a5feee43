"""Order within an aggregate, for handlers that ask for it."""

from collections.abc import Sequence

from apps.outbox.choices import LeaseStatus
from apps.outbox.events import Event
from apps.outbox.models import HandlerState, OutboxEvent
from apps.outbox.registry import ANY_TYPE, Handler

Aggregate = tuple[str, str]


def blocked_aggregates(handler: Handler, events: Sequence[Event]) -> dict[Aggregate, int]:
    """For each aggregate, the lowest id of an event outside these that the handler has not done.

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
    lowest: dict[Aggregate, int] = {}
    for kind, key, pk in rows.order_by("-pk").values_list("aggregate_type", "aggregate_id", "pk"):
        lowest[kind, key] = pk
    return lowest
