"""Lists and watches: selectors, pages, versions that are too old, and the event stream."""

import base64
import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

from . import statuses
from .kinds import Kind
from .statuses import RefusedError
from .store import Change, Store

Object = dict[str, Any]
Matcher = Callable[[Object], bool]
_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can "
    "start a new list without the continue parameter, or use the continue token in this response "
    "to retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the "
    "first chunk was returned and now may show up in the list."
)


def matcher(query: dict[str, str]) -> Matcher:
    """Whether an object fits the label and field selectors."""
    labels = [part for part in re.split(r",(?![^(]*\))", query.get("labelSelector", "")) if part]
    wanted = [part for part in query.get("fieldSelector", "").split(",") if part]

    def matches(candidate: Object) -> bool:
        held = candidate["metadata"].get("labels", {})
        return all(_label_fits(held, part) for part in labels) and all(
            _field_fits(candidate, part) for part in wanted
        )

    return matches


def _label_fits(labels: dict[str, str], part: str) -> bool:
    if found := re.fullmatch(r"(\S+) in \((.*)\)", part):
        return labels.get(found[1]) in [value.strip() for value in found[2].split(",")]
    if "!=" in part:
        name, value = part.split("!=")
        return labels.get(name) != value
    if "=" in part:
        name, value = re.split("==?", part)
        return labels.get(name) == value
    return part in labels


def _field_fits(candidate: Object, part: str) -> bool:
    path, value = re.split("==?", part)
    found: Any = candidate
    for step in path.split("."):
        found = found.get(step, {}) if isinstance(found, dict) else {}
    return bool(found == value)


def page(store: Store, kind: Kind, namespace: str, query: dict[str, str]) -> Object:
    """One page of a list."""
    with store.changed:
        start, version = _start(store, query)
        matches = matcher(query)
        chosen = [o for o in store.list(kind, namespace) if matches(o)]
        rest = [o for o in chosen if _place(o) > start]
        limit = int(query.get("limit") or 0) or len(rest)
        limit = len(rest) if query.get("resourceVersion") == "0" else limit
        metadata: Object = {"resourceVersion": str(version)}
        if len(rest) > limit:
            metadata["continue"] = _token(version, _place(rest[limit - 1]))
            if not query.get("labelSelector") and not query.get("fieldSelector"):
                metadata["remainingItemCount"] = len(rest) - limit
        items = [_as_item(o) for o in rest[:limit]]
        head = {"kind": f"{kind.name}List", "apiVersion": kind.api_version}
        return head | {"metadata": metadata, "items": items}


def _place(stored: Object) -> str:
    metadata = stored["metadata"]
    return f"{metadata.get('namespace', '')}/{metadata['name']}"


def _as_item(stored: Object) -> Object:
    return {k: v for k, v in stored.items() if k not in {"kind", "apiVersion"}}


def _start(store: Store, query: dict[str, str]) -> tuple[str, int]:
    """Where the page starts and which version it shows. Raises RefusedError (400, 410, 504)."""
    token, version = query.get("continue", ""), query.get("resourceVersion", "")
    if token and version:
        raise RefusedError(400, "specifying resource version is not allowed when using continue")
    if token:
        return _from_token(store, token)
    if version and not version.isdigit():
        why = f'Invalid value: "{version}": strconv.ParseUint: parsing "{version}": invalid syntax'
        raise RefusedError(400, f"invalid resource version: resourceVersion: {why}")
    wanted = int(version or 0)
    if wanted > store.version:
        message = f"Timeout: Too large resource version: {wanted}, current: {store.version}"
        cause = {"message": "Too large resource version", "reason": "ResourceVersionTooLarge"}
        details = {"causes": [cause], "retryAfterSeconds": 1}
        raise RefusedError(504, message, retry_after=1, details=details)
    if query.get("resourceVersionMatch") and not version:
        why = "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided"
        field = "resourceVersionMatch"
        raise statuses.bad_options("ListOptions", "FieldValueForbidden", why, field)
    if query.get("resourceVersionMatch") == "Exact" and wanted < store.oldest:
        raise RefusedError(410, "The resourceVersion for the provided list is too old.")
    return "", store.version


def _from_token(store: Store, token: str) -> tuple[str, int]:
    try:
        held = json.loads(base64.urlsafe_b64decode(token + "==="))
    except ValueError as error:
        raise RefusedError(
            400, f"invalid continue token: continue key is not valid: {error}"
        ) from error
    if held["rv"] < store.oldest and held["rv"] >= 0:
        fresh = _token(-1, held["start"])
        raise RefusedError(410, _TOO_OLD, metadata={"continue": fresh})
    version = held["rv"] if held["rv"] > 0 else store.version
    return held["start"], version


def _token(version: int, start: str) -> str:
    held = {"v": "meta.k8s.io/v1", "rv": version, "start": start}
    return base64.urlsafe_b64encode(json.dumps(held).encode()).decode()


def watch(
    store: Store, kind: Kind, namespace: str, query: dict[str, str], is_open: Callable[[], bool]
) -> Iterator[Object]:
    """The events of a watch, until its time-out, a 410 or the end of the server."""
    version = query.get("resourceVersion", "")
    if version and not version.isdigit():
        why = f'Invalid value: "{version}": strconv.ParseUint: parsing "{version}": invalid syntax'
        raise RefusedError(500, f"resourceVersion: {why}")
    return _events(store, kind, namespace, query, is_open)


def _events(
    store: Store, kind: Kind, namespace: str, query: dict[str, str], is_open: Callable[[], bool]
) -> Iterator[Object]:
    matches = matcher(query)
    deadline = time.monotonic() + float(query.get("timeoutSeconds") or 1800)
    seen = int(query.get("resourceVersion") or 0)
    if seen == 0:
        with store.changed:
            seen, present = store.version, store.list(kind, namespace)
        yield from ({"type": "ADDED", "object": o} for o in present if matches(o))
        if query.get("sendInitialEvents") == "true":
            yield _bookmark(kind, seen, is_initial=True)
    while is_open() and time.monotonic() < deadline:
        if seen < store.oldest:
            yield _too_old(seen, store.oldest)
            return
        for change in store.since(seen):
            seen = change.version
            if change.kind == kind and (event := _event(change, namespace, matches)):
                yield event
        with store.changed:
            if store.version <= seen:
                store.changed.wait(min(0.2, max(0.0, deadline - time.monotonic())))
    if query.get("allowWatchBookmarks") == "true":
        yield _bookmark(kind, seen, is_initial=False)


def _event(change: Change, namespace: str, matches: Matcher) -> Object | None:
    subject = change.after or change.before
    if subject is None or namespace not in {"", subject["metadata"].get("namespace", "")}:
        return None
    fitted = change.before is not None and matches(change.before)
    if change.after is None:
        return {"type": "DELETED", "object": change.before} if fitted else None
    fits = matches(change.after)
    if fits:
        return {"type": "MODIFIED" if fitted else "ADDED", "object": change.after}
    return _left(change) if fitted else None


def _left(change: Change) -> Object:
    before = change.before or {}
    metadata = before["metadata"] | {"resourceVersion": str(change.version)}
    return {"type": "DELETED", "object": before | {"metadata": metadata}}


def _bookmark(kind: Kind, version: int, *, is_initial: bool) -> Object:
    metadata: Object = {"resourceVersion": str(version)}
    if is_initial:
        metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
    shown = {"kind": kind.name, "apiVersion": kind.api_version, "metadata": metadata}
    return {"type": "BOOKMARK", "object": shown}


def _too_old(version: int, oldest: int) -> Object:
    message = f"too old resource version: {version} ({oldest})"
    return {"type": "ERROR", "object": RefusedError(410, message).body}
