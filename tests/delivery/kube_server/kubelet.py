"""A stand-in for nodes: pods become ready after a moment, or fail as they are told to."""

import time
from typing import Any

from . import quantities
from .kinds import BY_NAME
from .store import Store, timestamp

Object = dict[str, Any]
POD, SECRET = BY_NAME["Pod"], BY_NAME["Secret"]
BEHAVE = "fakenode/behave"
_NODE_CPU = 8
_WAITING = {
    "image-pull": ("ImagePullBackOff", "fake: image cannot be pulled"),
    "crash": ("CrashLoopBackOff", "back-off restarting failed container"),
}


class Kubelet:
    """Moves pods along; `behaviours` maps a part of an image to what its pods do."""

    def __init__(self, *, ready_seconds: float, stop_seconds: float) -> None:
        self.ready_seconds = ready_seconds
        self.stop_seconds = stop_seconds
        self.behaviours: dict[str, str] = {}
        self._seen: dict[str, float] = {}

    def step(self, store: Store) -> bool:
        """One look at every pod; whether one of them only waits for its time."""
        now = time.monotonic()
        pods = store.list(POD)
        for pod in pods:
            self._advance(store, pod, now)
        return any("deletionTimestamp" in p["metadata"] or not is_ready(p) for p in pods)

    def _advance(self, store: Store, pod: Object, now: float) -> None:
        metadata = pod["metadata"]
        namespace, name = metadata["namespace"], metadata["name"]
        if "deletionTimestamp" in metadata:
            since = self._seen.setdefault(f"{metadata['uid']}/stop", now)
            if now - since >= self.stop_seconds:
                store.delete(POD, namespace, name)
            return
        since = self._seen.setdefault(metadata["uid"], now)
        if now - since >= self.ready_seconds:
            status = self._status(store, pod)
            if pod["status"] != status:
                store.put(POD, pod | {"status": status})

    def _status(self, store: Store, pod: Object) -> Object:
        if _requested_cpu(pod) > _NODE_CPU:
            return _unschedulable()
        behaviour = self._behaviour(pod)
        missing = _missing_secret(store, pod)
        if missing:
            return _waiting(pod, "CreateContainerConfigError", f'secret "{missing}" not found')
        if behaviour in _WAITING:
            return _waiting(pod, *_WAITING[behaviour])
        return _running(pod, is_ready=behaviour != "never-ready")

    def _behaviour(self, pod: Object) -> str:
        told = pod["metadata"].get("annotations", {}).get(BEHAVE, "")
        image = pod["spec"]["containers"][0]["image"]
        return told or next((b for part, b in self.behaviours.items() if part in image), "")


def is_ready(pod: Object) -> bool:
    """Whether the pod takes traffic."""
    conditions = pod.get("status", {}).get("conditions", [])
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def _requested_cpu(pod: Object) -> Any:
    requested = [c["resources"].get("requests", {}) for c in pod["spec"]["containers"]]
    return sum(quantities.value_of(r.get("cpu", 0)) for r in requested)


def _missing_secret(store: Store, pod: Object) -> str:
    for container in pod["spec"]["containers"]:
        sources = [e.get("secretRef", {}) for e in container.get("envFrom", [])]
        for source in sources:
            name, namespace = source.get("name", ""), pod["metadata"]["namespace"]
            if name and not source.get("optional") and not store.get(SECRET, namespace, name):
                return str(name)
    return ""


def _unschedulable() -> Object:
    condition = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/2 nodes are available: 2 Insufficient cpu.",
    }
    return {"phase": "Pending", "conditions": [condition]}


def _conditions(*, is_ready: bool) -> list[Object]:
    told = {} if is_ready else {"reason": "ContainersNotReady"}
    value = "True" if is_ready else "False"
    return [
        {"type": "PodScheduled", "status": "True"},
        {"type": "Ready", "status": value, **told},
    ]


def _waiting(pod: Object, reason: str, message: str) -> Object:
    container = pod["spec"]["containers"][0]
    is_crash = reason == "CrashLoopBackOff"
    last = {"terminated": {"exitCode": 1, "reason": "Error"}} if is_crash else {}
    state = {
        "name": container["name"],
        "state": {"waiting": {"reason": reason, "message": message}},
        "lastState": last,
        "ready": False,
        "restartCount": 3 if is_crash else 0,
        "image": container["image"],
    }
    phase = "Running" if is_crash else "Pending"
    return {
        "phase": phase,
        "conditions": _conditions(is_ready=False),
        "containerStatuses": [state],
    }


def _running(pod: Object, *, is_ready: bool) -> Object:
    container = pod["spec"]["containers"][0]
    started = pod["metadata"].get("creationTimestamp", timestamp())
    state = {
        "name": container["name"],
        "state": {"running": {"startedAt": started}},
        "lastState": {},
        "ready": is_ready,
        "restartCount": 0,
        "image": container["image"],
    }
    return {
        "phase": "Running",
        "conditions": _conditions(is_ready=is_ready),
        "containerStatuses": [state],
    }
