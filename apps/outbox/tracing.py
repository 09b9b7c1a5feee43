"""Why an event happened: the chain of work it belongs to, and the event that caused it.

The correlation id is the id of the web request that began the chain, or the first event's own; the
causation id is that of the event whose handler publishes. Both travel in the payload under a
reserved key, since the mirrored table has no column for them and publishing is one INSERT, and are
taken out again before a handler or subscriber sees the payload.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from apps.common.observability import current_request_id
from apps.outbox.events import NO_TRACE, Trace

TRACE_KEY = "_trace"

_present: ContextVar[Trace] = ContextVar("outbox_trace", default=NO_TRACE)


def current_trace() -> Trace:
    """The trace of what is published now: the handled event's, or else the request's."""
    trace = _present.get()
    return trace if trace is not NO_TRACE else Trace(current_request_id())


@contextmanager
def caused_by(event_id: int, trace: Trace) -> Iterator[None]:
    """Publish in the block as a consequence of an event."""
    token = _present.set(Trace(trace.correlation_id or str(event_id), event_id))
    try:
        yield
    finally:
        _present.reset(token)


def with_trace(payload: Any, trace: Trace) -> Any:
    """The payload as stored; anything but an object, and an empty trace, leave it as it is."""
    if trace == NO_TRACE or not (payload is None or isinstance(payload, Mapping)):
        return payload
    noted: dict[str, Any] = {"correlation_id": trace.correlation_id}
    if trace.causation_id:
        noted["causation_id"] = trace.causation_id
    return {**(payload or {}), TRACE_KEY: noted}


def without_trace(stored: Any) -> tuple[Any, Trace]:
    """The payload as published, and its trace."""
    if not isinstance(stored, Mapping) or not isinstance(stored.get(TRACE_KEY), Mapping):
        return stored, NO_TRACE
    noted = stored[TRACE_KEY]
    payload = {name: value for name, value in stored.items() if name != TRACE_KEY}
    return payload, Trace(str(noted.get("correlation_id", "")), int(noted.get("causation_id") or 0))
