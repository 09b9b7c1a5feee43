"""Promised types are checked at publishing; events know their cause and become CloudEvents."""

from datetime import UTC, datetime

import pytest
import structlog
from cloudevents.core.formats.json import JSONFormat

from apps.outbox import event_types
from apps.outbox.cloudevents import to_cloud_event, to_cloud_event_dict
from apps.outbox.errors import InvalidPayload
from apps.outbox.events import NO_TRACE, Event, NewEvent, Trace
from apps.outbox.models import OutboxEvent
from apps.outbox.registry import handles
from apps.outbox.services import drain, publish, publish_many
from apps.outbox.tracing import with_trace, without_trace

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def ordered_type(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(event_types, "_types", dict(event_types._types))
    event_types.declare("ORDERED", "Made.", required={"n": {"type": "integer"}}, version=2)
    return "ORDERED"


@pytest.mark.django_db
def test_a_payload_that_breaks_its_schema_is_refused(ordered_type: str) -> None:
    with pytest.raises(InvalidPayload) as refusal:
        publish(ordered_type, "t", "1", {"n": "three"})
    assert refusal.value.details == {"event_type": "ORDERED", "place": "$.n"}
    with pytest.raises(InvalidPayload):
        publish_many([NewEvent(ordered_type, "t", "1", None)])
    assert not OutboxEvent.objects.exists()


@pytest.mark.django_db
def test_a_type_that_nobody_declared_passes() -> None:
    assert publish("SOMETHING_ELSE", "t", "1", {"any": "thing"})


def test_what_apps_publish_is_declared() -> None:
    names = {event_type.name for event_type in event_types.declared()}
    assert names >= {"FLAG_CHANGED", "PACK_UPDATED", "STICKER_CLASSIFIED", "IDENTITY_RECONCILED"}


@pytest.mark.django_db
def test_the_request_is_the_first_cause_and_a_handled_event_the_next() -> None:
    seen: list[Event] = []
    handles("SECOND")(seen.append)

    @handles("FIRST")
    def goes_on(event: Event) -> None:
        seen.append(event)
        publish("SECOND", "t", "1", {"n": 2})

    with structlog.contextvars.bound_contextvars(request_id="request-1"):
        first = publish("FIRST", "t", "1", {"n": 1})
    drain(5)
    assert [event.payload for event in seen] == [{"n": 1}, {"n": 2}]
    assert [event.trace for event in seen] == [Trace("request-1"), Trace("request-1", first)]


@pytest.mark.django_db
def test_without_a_request_the_first_event_names_the_chain() -> None:
    seen: list[Event] = []
    handles("SECOND")(seen.append)
    handles("FIRST")(lambda _event: publish("SECOND", "t", "1"))
    first = publish("FIRST", "t", "1")
    drain(5)
    assert [event.trace for event in seen] == [Trace(str(first), first)]


@pytest.mark.parametrize("payload", [None, {}, {"a": 1}, [1], "text"])
def test_no_trace_leaves_a_payload_as_it_is(payload: object) -> None:
    assert with_trace(payload, NO_TRACE) is payload
    assert without_trace(payload) == (payload, NO_TRACE)


def test_an_event_is_a_valid_cloud_event(ordered_type: str) -> None:
    event = Event(7, ordered_type, "pack", "p 1", {"n": 3}, 1, NOON, trace=Trace("request-1", 5))
    document = to_cloud_event_dict(event, source="/pombo")
    assert document == {
        "specversion": "1.0",
        "id": "7",
        "source": "/pombo",
        "type": "pombo.ordered.v2",
        "subject": "pack/p 1",
        "time": "2026-03-01T12:00:00Z",
        "datacontenttype": "application/json",
        "correlationid": "request-1",
        "causationid": "5",
        "data": {"n": 3},
    }
    read = JSONFormat().read(None, to_cloud_event(event, source="/pombo"))
    assert (read.get_id(), read.get_source(), read.get_data()) == ("7", "/pombo", {"n": 3})
