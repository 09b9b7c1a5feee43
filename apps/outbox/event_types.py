"""The event types that are promised: their version, meaning and JSON Schema.

Each app declares its own in `event_types.py`, read at the start. Publishing checks the payload of a
declared type; types that nobody declared (those of an adopted database) pass unchecked at version
1. A change that breaks readers is a new version; a property added is not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from apps.outbox.errors import InvalidPayload

FIRST_VERSION = 1


@dataclass(frozen=True, slots=True)
class EventType:
    """A promised type: what happened, in which version, and what its payload holds."""

    name: str
    summary: str
    schema: Mapping[str, Any]
    version: int
    validator: Draft202012Validator


_types: dict[str, EventType] = {}


def declare(
    name: str,
    summary: str,
    *,
    required: Mapping[str, Any] | None = None,
    optional: Mapping[str, Any] | None = None,
    version: int = FIRST_VERSION,
) -> None:
    """Promise an event type whose payload is an object of these properties, each with its schema.

    Further properties are allowed, so that publishers can add some. Raises jsonschema's SchemaError
    for a schema that is none.
    """
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": name,
        "description": summary,
        "type": "object",
        "required": sorted(required or {}),
        "properties": {**(required or {}), **(optional or {})},
    }
    Draft202012Validator.check_schema(schema)
    _types[name] = EventType(name, summary, schema, version, Draft202012Validator(schema))


def declared() -> Sequence[EventType]:
    """All promised types by name."""
    return [_types[name] for name in sorted(_types)]


def find(name: str) -> EventType | None:
    """The promised type of that name, if any."""
    return _types.get(name)


def version_of(name: str) -> int:
    """The version of a type; undeclared ones are at the first."""
    found = _types.get(name)
    return found.version if found else FIRST_VERSION


def check_payload(name: str, payload: Any) -> None:
    """Raise InvalidPayload, with the place, when a declared type's payload breaks its schema."""
    event_type = _types.get(name)
    if event_type is None:
        return
    error = best_match(event_type.validator.iter_errors({} if payload is None else payload))
    if error is not None:
        raise InvalidPayload(name, error.json_path, error.message)
