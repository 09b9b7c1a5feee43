"""Which handlers of an event are done, kept only while others of it still fail."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from apps.outbox.models import HandlerState


def done_handlers(event_ids: Sequence[int]) -> Mapping[int, set[str]]:
    """The names of the handlers that are done, for events that have been tried before."""
    done: dict[int, set[str]] = defaultdict(set)
    if event_ids:
        states = HandlerState.objects.filter(event_id__in=event_ids, is_done=True)
        for event_id, name in states.values_list("event_id", "handler"):
            done[event_id].add(name)
    return done


def remember(done: Mapping[int, Collection[str]]) -> None:
    """Write down which handlers are done with which events, so that none of them is repeated."""
    states = [
        HandlerState(event_id=event_id, handler=name, is_done=True)
        for event_id, names in done.items()
        for name in names
    ]
    HandlerState.objects.bulk_create(states, ignore_conflicts=True)


def forget(event_ids: Sequence[int]) -> None:
    """Drop the states of events that have completed."""
    if event_ids:
        HandlerState.objects.filter(event_id__in=event_ids).delete()
