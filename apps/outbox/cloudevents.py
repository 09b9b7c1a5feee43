"""Events in the form of CloudEvents 1.0. The one module that imports the library.

`source` and `id` together name an event for ever, so that receivers can drop repeats.
"""

import json
from typing import Any

from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent

from apps.outbox.event_types import version_of
from apps.outbox.events import Event

CONTENT_TYPE = "application/cloudevents+json"
TYPE_PREFIX = "pombo"


def cloud_event_type(event_type: str) -> str:
    """The type as receivers see it, with its version: `pombo.pack_updated.v1`."""
    return f"{TYPE_PREFIX}.{event_type.lower()}.v{version_of(event_type)}"


def to_cloud_event(event: Event, *, source: str) -> bytes:
    """The event as a JSON document; `source` is a URI reference that names this installation."""
    attributes: dict[str, Any] = {
        "specversion": "1.0",
        "id": str(event.id),
        "source": source,
        "type": cloud_event_type(event.event_type),
        "subject": f"{event.aggregate_type}/{event.aggregate_id}",
        "time": event.created_at,
        "datacontenttype": "application/json",
        "correlationid": event.trace.correlation_id or str(event.id),
    }
    if event.trace.causation_id:
        attributes["causationid"] = str(event.trace.causation_id)
    return JSONFormat().write(CloudEvent(attributes, dict(event.payload)))


def to_cloud_event_dict(event: Event, *, source: str) -> dict[str, Any]:
    """The same document as values, for answers of the API."""
    document: dict[str, Any] = json.loads(to_cloud_event(event, source=source))
    return document
