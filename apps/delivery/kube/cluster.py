"""What Pombo does to a cluster: apply, try out, read, list, watch, delete, take over ownership."""

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import urllib3

from apps.common.errors import Unavailable

from . import answers
from .client import KubeClient
from .errors import ClusterUnreachable, ObjectChanged, ObjectMissing, VersionExpired
from .ownership import adopt
from .resources import RESOURCES, Object, ObjectKey, resource_of

FIELD_MANAGER = "pombo"
_PAGE_SIZE = "1000"
_APPLY = "application/apply-patch+yaml"
_MERGE_PATCH = "application/merge-patch+json"
_JSON_PATCH = "application/json-patch+json"
_MAX_ADOPTIONS = 5


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One change: ADDED, MODIFIED or DELETED, and the object (its last state when deleted)."""

    type: str
    object: Object


class Cluster:
    """The operations, on top of one shared client."""

    def __init__(self, client: KubeClient) -> None:
        self._client = client

    def version(self) -> str:
        """The server's version; the cheapest question there is. Raises ClusterUnreachable."""
        found: str = self._client.request("GET", "/version")["gitVersion"]
        return found

    def apply(
        self, wanted: Mapping[str, Any], *, is_dry_run: bool = False, is_forced: bool = False
    ) -> Object:
        """Server-side apply as `pombo`; the object as it is (or, in a dry run, would be) then.

        Raises FieldConflict (unless forced), ObjectRefused, AdmissionDenied, ObjectMissing for a
        missing namespace, ClusterUnreachable.
        """
        query = {"fieldManager": FIELD_MANAGER}
        query |= {"dryRun": "All"} if is_dry_run else {}
        query |= {"force": "true"} if is_forced else {}
        return self._patch(wanted, dict(wanted), _APPLY, query)

    def create(self, wanted: Mapping[str, Any]) -> Object:
        """Create once, atomically. Raises ObjectExists when somebody was faster."""
        resource = resource_of(wanted)
        path = resource.path(wanted["metadata"].get("namespace", ""))
        query = {"fieldManager": FIELD_MANAGER}
        made: Object = self._client.request("POST", path, query=query, body=dict(wanted))
        return made

    def get(self, key: ObjectKey) -> Object | None:
        """The live object, None when it is not there."""
        try:
            found: Object = self._client.request("GET", _path(key))
        except ObjectMissing:
            return None
        return found

    def list_all(self, kind: str, *, namespace: str = "", labels: str = "") -> list[Object]:
        """All objects of a kind; one call for each 1,000. Starts anew when its pages expire."""
        try:
            return list(self._pages(kind, namespace, labels, _PAGE_SIZE))
        except VersionExpired:
            return list(self._pages(kind, namespace, labels, ""))

    def delete(self, key: ObjectKey, *, uid: str = "") -> bool:
        """Delete in the background; False when it was not there.

        Raises ObjectChanged if `uid` is given and another object has that name by now.
        """
        options: dict[str, Any] = {"propagationPolicy": "Background"}
        if uid:
            options["preconditions"] = {"uid": uid}
        try:
            self._client.request("DELETE", _path(key), body=options)
        except ObjectMissing:
            return False
        return True

    def take_over(self, live: Mapping[str, Any], managers: Iterable[str]) -> Object | None:
        """Give the fields of client-side appliers to `pombo`, so that the next apply can drop them.

        None when there is nothing to take over. Guarded by the object's version; on a change in
        between it looks again. Raises ObjectChanged when that keeps happening.
        """
        key = ObjectKey(live["kind"], live["metadata"].get("namespace", ""), _name(live))
        present: Object | None = dict(live)
        for _ in range(_MAX_ADOPTIONS):
            entries = adopt(present, FIELD_MANAGER, frozenset(managers)) if present else None
            if present is None or entries is None:
                return None
            try:
                return self._replace_managers(key, present, entries)
            except ObjectChanged:
                present = self.get(key)
        raise ObjectChanged(f"{key} keeps changing while its ownership is taken over.")

    def merge(self, key: ObjectKey, patch: Mapping[str, Any]) -> Object:
        """Set some fields and leave the rest (a merge patch). Raises ObjectMissing.

        Under a manager of its own, so that no apply drops what was set here.
        """
        body, query = dict(patch), {"fieldManager": f"{FIELD_MANAGER}-values"}
        found: Object = self._client.request(
            "PATCH", _path(key), query=query, body=body, content_type=_MERGE_PATCH
        )
        return found

    def watch(
        self,
        kind: str,
        *,
        namespace: str = "",
        labels: str = "",
        deadline_seconds: float,
        window_seconds: int = 60,
    ) -> Iterator[WatchEvent | None]:
        """The state of a collection as ADDED events, then its changes, until the deadline.

        A connection that ends or breaks is resumed; after 410 the collection is listed again, so
        objects may be reported twice. Yields None after every resumption and whenever nothing
        happened for a window, so that the caller can look at its own clock.
        Raises ClusterUnreachable when the cluster stays away.
        """
        deadline = time.monotonic() + deadline_seconds
        version = ""
        while (left := deadline - time.monotonic()) > 0:
            if not version:
                listed = self._first_page(kind, namespace, labels)
                version = listed["metadata"]["resourceVersion"]
                yield from (WatchEvent("ADDED", _typed(kind, item)) for item in listed["items"])
            seconds = max(1, min(window_seconds, int(left) + 1))
            query = _watch_query(labels, version, seconds)
            for event, seen in self._window(RESOURCES[kind].path(namespace), query, version):
                version = seen
                if event is not None:
                    yield event
            yield None

    def _window(
        self, path: str, query: dict[str, str], version: str
    ) -> Iterator[tuple[WatchEvent | None, str]]:
        """One open watch: events with the version to go on from; an empty one means list again."""
        read_seconds = float(query["timeoutSeconds"]) + 5
        try:
            with self._client.lines(path, query=query, read_seconds=read_seconds) as lines:
                for line in lines:
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        yield None, _after_error(event["object"])
                        return
                    version = event["object"]["metadata"]["resourceVersion"]
                    if event["type"] == "BOOKMARK":
                        yield None, version
                    else:
                        yield WatchEvent(event["type"], event["object"]), version
        except VersionExpired:
            yield None, ""
        except (urllib3.exceptions.HTTPError, Unavailable):
            # The list that comes next is repeated with back-off, so a cluster that is away for
            # longer ends the watch there.
            self._client.pause()
            yield None, ""

    def _first_page(self, kind: str, namespace: str, labels: str) -> Object:
        query = {"labelSelector": labels} if labels else {}
        found: Object = self._client.request("GET", RESOURCES[kind].path(namespace), query=query)
        return found

    def _pages(self, kind: str, namespace: str, labels: str, limit: str) -> Iterator[Object]:
        query = {"labelSelector": labels} if labels else {}
        query |= {"limit": limit} if limit else {}
        while True:
            page = self._client.request("GET", RESOURCES[kind].path(namespace), query=query)
            yield from (_typed(kind, item) for item in page["items"])
            token = page["metadata"].get("continue", "")
            if not token:
                return
            query = query | {"continue": token}

    def _replace_managers(self, key: ObjectKey, live: Object, entries: list[Any]) -> Object:
        version = live["metadata"]["resourceVersion"]
        patch = [
            {"op": "replace", "path": "/metadata/managedFields", "value": entries},
            {"op": "replace", "path": "/metadata/resourceVersion", "value": version},
        ]
        return self._patch(live, patch, _JSON_PATCH, {"fieldManager": FIELD_MANAGER})

    def _patch(
        self, target: Mapping[str, Any], body: Any, content_type: str, query: dict[str, str]
    ) -> Object:
        metadata = target["metadata"]
        path = resource_of(target).path(metadata.get("namespace", ""), metadata["name"])
        found: Object = self._client.request(
            "PATCH", path, query=query, body=body, content_type=content_type
        )
        return found


def _path(key: ObjectKey) -> str:
    return RESOURCES[key.kind].path(key.namespace, key.name)


def _name(live: Mapping[str, Any]) -> str:
    name: str = live["metadata"]["name"]
    return name


def _typed(kind: str, item: Object) -> Object:
    """Items of a list come without kind and apiVersion."""
    return {"apiVersion": RESOURCES[kind].api_version, "kind": kind, **item}


def _watch_query(labels: str, version: str, seconds: int) -> dict[str, str]:
    query = {
        "watch": "true",
        "resourceVersion": version,
        "timeoutSeconds": str(seconds),
        "allowWatchBookmarks": "true",
    }
    return query | ({"labelSelector": labels} if labels else {})


def _after_error(status: Mapping[str, Any]) -> str:
    """Where to go on after an ERROR event: always from a fresh list.

    A version that is too old (410) is only the commonest cause; no other can be gone on from.
    """
    answer = answers.read_answer(int(status.get("code", 500)), status, None)
    if answer.status in {401, 403}:
        raise answers.error_for(answer)
    return ""


__all__ = ["FIELD_MANAGER", "Cluster", "ClusterUnreachable", "WatchEvent"]
