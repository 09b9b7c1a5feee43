"""The controllers behind the server: rollouts of Deployments, namespaces that go away."""

import hashlib
import json
import time
from typing import Any

from . import admission, defaults, kubelet, writes
from .kinds import BY_NAME
from .statuses import RefusedError
from .store import Store, timestamp

Object = dict[str, Any]
DEPLOYMENT, REPLICA_SET, POD = (BY_NAME[n] for n in ("Deployment", "ReplicaSet", "Pod"))
NAMESPACE = BY_NAME["Namespace"]
_REVISION = "deployment.kubernetes.io/revision"
_HISTORY = "deployment.kubernetes.io/revision-history"


class Controllers:
    """Brings the store one step nearer to what its objects ask for, on each call of `step`."""

    def __init__(self, store: Store, *, kubelet_: "kubelet.Kubelet") -> None:
        self.store = store
        self.kubelet = kubelet_
        self._progressed_at: dict[str, float] = {}
        self._sequence = 0

    def step(self) -> bool:
        """One round over namespaces, deployments and pods; whether time alone may change more."""
        deployments = self.store.list(DEPLOYMENT)
        for deployment in deployments:
            with self.store.changed:
                self._reconcile(deployment)
        with self.store.changed:
            is_busy = self.kubelet.step(self.store)
            self._finish_namespaces()
        return is_busy or any(_is_unfinished(deployment) for deployment in deployments)

    def _reconcile(self, listed: Object) -> None:
        metadata = listed["metadata"]
        deployment = self.store.get(DEPLOYMENT, metadata["namespace"], metadata["name"])
        if deployment is None:
            return
        owned = sorted(self.store.owned_by(REPLICA_SET, deployment), key=_revision)
        if deployment["spec"].get("paused"):
            self._report(deployment, owned, current=None)
            return
        current = self._current_set(deployment, owned)
        if current is None:
            return
        owned = sorted(self.store.owned_by(REPLICA_SET, deployment), key=_revision)
        self._scale(deployment, owned, current)
        for replica_set in list(self.store.owned_by(REPLICA_SET, deployment)):
            self._fill(replica_set)
        owned = sorted(self.store.owned_by(REPLICA_SET, deployment), key=_revision)
        self._report(deployment, owned, current=current["metadata"]["name"])
        self._forget(owned, kept=deployment["spec"]["revisionHistoryLimit"])

    def _current_set(self, deployment: Object, owned: list[Object]) -> Object | None:
        """The ReplicaSet of the present template; a step that makes or reuses one ends here."""
        wanted = template_hash(deployment["spec"]["template"])
        label = "pod-template-hash"
        found = next((o for o in owned if o["metadata"]["labels"][label] == wanted), None)
        highest = max((_revision(o) for o in owned), default=0)
        if found and _revision(found) == highest:
            return found
        self._progressed_at[deployment["metadata"]["uid"]] = time.monotonic()
        if found:
            self._reuse(found, highest + 1)
            self._announce(deployment, highest + 1, None)
        else:
            self._make_set(deployment, wanted, highest + 1)
            name = f"{deployment['metadata']['name']}-{wanted}"
            self._announce(deployment, highest + 1, name)
        return None

    def _reuse(self, found: Object, revision: int) -> None:
        annotations = found["metadata"]["annotations"]
        former = [annotations[_HISTORY]] if _HISTORY in annotations else []
        annotations[_HISTORY] = ",".join([*former, annotations[_REVISION]])
        annotations[_REVISION] = str(revision)
        self.store.put(REPLICA_SET, found)

    def _announce(self, deployment: Object, revision: int, created: str | None) -> None:
        def edit(stored: Object) -> None:
            stored["metadata"].setdefault("annotations", {})[_REVISION] = str(revision)
            if created:
                message = f'Created new replica set "{created}"'
                _set_condition(
                    stored["status"], "Progressing", "True", "NewReplicaSetCreated", message
                )

        metadata = deployment["metadata"]
        self.store.change(DEPLOYMENT, metadata["namespace"], metadata["name"], edit)

    def _make_set(self, deployment: Object, wanted: str, revision: int) -> None:
        template = json.loads(json.dumps(deployment["spec"]["template"]))
        labels = template["metadata"].setdefault("labels", {})
        labels["pod-template-hash"] = wanted
        metadata = deployment["metadata"]
        new = {
            "kind": "ReplicaSet",
            "apiVersion": "apps/v1",
            "metadata": {
                "name": f"{metadata['name']}-{wanted}",
                "namespace": metadata["namespace"],
                "generation": 1,
                "labels": labels,
                "annotations": {_REVISION: str(revision)},
                "ownerReferences": [_reference(deployment)],
            },
            "spec": {
                "replicas": 0,
                "selector": {"matchLabels": labels},
                "template": template,
            },
            "status": {"replicas": 0},
        }
        self.store.put(REPLICA_SET, new)

    def _scale(self, deployment: Object, owned: list[Object], current: Object) -> None:
        spec = deployment["spec"]
        surge, unavailable = bounds(spec)
        pods = {o["metadata"]["name"]: self._pods(o) for o in owned}
        total = sum(o["spec"]["replicas"] for o in owned)
        room = spec["replicas"] + surge - total
        held = current["spec"]["replicas"]
        wanted = min(spec["replicas"], held + max(0, room))
        self._resize(current, spec["replicas"] if held > spec["replicas"] else wanted)
        available = sum(kubelet.is_ready(p) for chosen in pods.values() for p in chosen)
        spare = available - (spec["replicas"] - unavailable)
        for old in owned:
            if old["metadata"]["name"] != current["metadata"]["name"]:
                spare -= self._shrink(old, pods[old["metadata"]["name"]], spare)

    def _shrink(self, old: Object, pods: list[Object], spare: int) -> int:
        """Take away unready pods first, then ready ones as far as the rest carries the load."""
        ready = sum(kubelet.is_ready(pod) for pod in pods)
        unready = old["spec"]["replicas"] - ready
        taken = min(ready, max(0, spare))
        self._resize(old, old["spec"]["replicas"] - unready - taken)
        return taken

    def _resize(self, replica_set: Object, count: int) -> None:
        metadata = replica_set["metadata"]

        def edit(stored: Object) -> None:
            stored["spec"]["replicas"] = count

        self.store.change(REPLICA_SET, metadata["namespace"], metadata["name"], edit)

    def _pods(self, replica_set: Object) -> list[Object]:
        owned = self.store.owned_by(POD, replica_set)
        return [pod for pod in owned if "deletionTimestamp" not in pod["metadata"]]

    def _fill(self, replica_set: Object) -> None:
        """Make or delete pods; a refusal becomes the condition ReplicaFailure."""
        pods = sorted(self._pods(replica_set), key=kubelet.is_ready)
        surplus = len(pods) - replica_set["spec"]["replicas"]
        for pod in pods[: max(0, surplus)]:
            metadata = pod["metadata"]
            writes.delete(self.store, POD, metadata["namespace"], metadata["name"], {}, {})
        refusal = None
        for _ in range(max(0, -surplus)):
            if refusal := self._make_pod(replica_set):
                break
        self._note_failure(replica_set, refusal)

    def _forget(self, owned: list[Object], *, kept: int) -> None:
        """Delete the oldest empty ReplicaSets beyond the history limit."""
        empty = [o for o in owned if not o["spec"]["replicas"] and not o["status"]["replicas"]]
        for old in empty[: max(0, len(empty) - kept)]:
            self.store.delete(REPLICA_SET, old["metadata"]["namespace"], old["metadata"]["name"])

    def _make_pod(self, replica_set: Object) -> str | None:
        self._sequence += 1
        template = json.loads(json.dumps(replica_set["spec"]["template"]))
        name = f"{replica_set['metadata']['name']}-{self._sequence:05x}"
        owner = _reference(replica_set)
        pod = {"kind": "Pod", "apiVersion": "v1", **template}
        pod["metadata"] |= {
            "name": name,
            "generateName": f"{replica_set['metadata']['name']}-",
            "namespace": replica_set["metadata"]["namespace"],
            "ownerReferences": [owner],
        }
        defaults.complete(POD, pod)
        try:
            admission.check_namespace(self.store, POD, pod["metadata"]["namespace"], name)
            admission.admit(self.store, POD, pod)
        except RefusedError as refusal:
            return str(refusal)
        self.store.put(POD, pod)
        return None

    def _note_failure(self, replica_set: Object, refusal: str | None) -> None:
        metadata = replica_set["metadata"]
        pods = len(self._pods(replica_set))

        def edit(stored: Object) -> None:
            status = stored["status"]
            status["replicas"] = pods
            if refusal and "ReplicaFailure" not in _conditions(status):
                _set_condition(status, "ReplicaFailure", "True", "FailedCreate", refusal)
            elif not refusal:
                _drop_condition(status, "ReplicaFailure")

        self.store.change(REPLICA_SET, metadata["namespace"], metadata["name"], edit)

    def _report(self, deployment: Object, owned: list[Object], *, current: str | None) -> None:
        metadata = deployment["metadata"]
        pods = {o["metadata"]["name"]: self._pods(o) for o in owned}
        counts = _counts(deployment, pods, current)
        failure = next(
            (c for o in owned if (c := _conditions(o["status"]).get("ReplicaFailure"))), None
        )
        uid = metadata["uid"]

        def edit(stored: Object) -> None:
            status = stored["status"]
            if _counted(status) != counts:
                self._progressed_at[uid] = time.monotonic()
            kept = {"conditions": status.get("conditions", [])}
            status.clear()
            status |= {k: v for k, v in counts.items() if v} | {"terminatingReplicas": 0} | kept
            status["observedGeneration"] = metadata["generation"]
            self._set_conditions(stored, counts, current, failure)

        self.store.change(DEPLOYMENT, metadata["namespace"], metadata["name"], edit)

    def _set_conditions(
        self, stored: Object, counts: Object, current: str | None, failure: Object | None
    ) -> None:
        status, spec = stored["status"], stored["spec"]
        minimum = spec["replicas"] - bounds(spec)[1]
        _set_available(status, is_enough=counts["availableReplicas"] >= minimum)
        if failure:
            _set_condition(status, "ReplicaFailure", "True", failure["reason"], failure["message"])
        else:
            _drop_condition(status, "ReplicaFailure")
        present = _conditions(status).get("Progressing", {})
        if current is None:
            if present.get("reason") != "ProgressDeadlineExceeded":
                message = "Deployment is paused"
                _set_condition(status, "Progressing", "Unknown", "DeploymentPaused", message)
            return
        self._set_progressing(stored, counts, current, present)

    def _set_progressing(
        self, stored: Object, counts: Object, current: str, present: Object
    ) -> None:
        status, spec = stored["status"], stored["spec"]
        is_complete = (
            counts["replicas"] == counts["updatedReplicas"] == counts["availableReplicas"]
            and counts["replicas"] == spec["replicas"]
        )
        since = self._progressed_at.setdefault(stored["metadata"]["uid"], time.monotonic())
        if is_complete:
            message = f'ReplicaSet "{current}" has successfully progressed.'
            _set_condition(status, "Progressing", "True", "NewReplicaSetAvailable", message)
        elif time.monotonic() - since > spec["progressDeadlineSeconds"]:
            message = f'ReplicaSet "{current}" has timed out progressing.'
            _set_condition(status, "Progressing", "False", "ProgressDeadlineExceeded", message)
        elif counts["updatedReplicas"] or present.get("status") == "False":
            message = f'ReplicaSet "{current}" is progressing.'
            _set_condition(status, "Progressing", "True", "ReplicaSetUpdated", message)

    def _finish_namespaces(self) -> None:
        for namespace in self.store.list(NAMESPACE):
            if namespace["status"]["phase"] == "Terminating":
                self._empty(namespace["metadata"]["name"])

    def _empty(self, name: str) -> None:
        remains = False
        for kind in BY_NAME.values():
            for held in self.store.list(kind, name) if kind.is_namespaced else []:
                if held["metadata"].get("finalizers"):
                    remains = True
                else:
                    self.store.delete(kind, name, held["metadata"]["name"])
        if not remains:
            self.store.delete(NAMESPACE, "", name)


def _is_unfinished(deployment: Object) -> bool:
    progressing = _conditions(deployment["status"]).get("Progressing", {})
    return progressing.get("reason") not in {"NewReplicaSetAvailable", "ProgressDeadlineExceeded"}


def template_hash(template: Object) -> str:
    """A stable short name for a pod template."""
    text = json.dumps(template, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def bounds(spec: Object) -> tuple[int, int]:
    """Surge and unavailability in pods; surge rounds up, unavailability down."""
    rolling = spec["strategy"].get("rollingUpdate", {})
    replicas = spec["replicas"]
    return (
        _portion(rolling.get("maxSurge", 0), replicas, is_up=True),
        _portion(rolling.get("maxUnavailable", replicas), replicas, is_up=False),
    )


def _portion(value: int | str, replicas: int, *, is_up: bool) -> int:
    if isinstance(value, int):
        return value
    share = int(value.rstrip("%")) * replicas
    return -(-share // 100) if is_up else share // 100


def _revision(replica_set: Object) -> int:
    return int(replica_set["metadata"]["annotations"][_REVISION])


def _reference(owner: Object) -> Object:
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _counts(deployment: Object, pods: dict[str, list[Object]], current: str | None) -> Object:
    everyone = [pod for chosen in pods.values() for pod in chosen]
    ready = sum(kubelet.is_ready(pod) for pod in everyone)
    wanted = deployment["spec"]["replicas"]
    return {
        "replicas": len(everyone),
        "updatedReplicas": len(pods.get(current or "", [])),
        "readyReplicas": ready,
        "availableReplicas": ready,
        "unavailableReplicas": max(0, max(wanted, len(everyone)) - ready),
    }


def _counted(status: Object) -> Object:
    names = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
    return {name: status.get(name, 0) for name in names} | {
        "unavailableReplicas": status.get("unavailableReplicas", 0)
    }


def _conditions(status: Object) -> dict[str, Object]:
    return {condition["type"]: condition for condition in status.get("conditions", [])}


def _set_available(status: Object, *, is_enough: bool) -> None:
    if is_enough:
        message = "Deployment has minimum availability."
        _set_condition(status, "Available", "True", "MinimumReplicasAvailable", message)
    else:
        message = "Deployment does not have minimum availability."
        _set_condition(status, "Available", "False", "MinimumReplicasUnavailable", message)


def _set_condition(status: Object, kind: str, value: str, reason: str, message: str) -> None:
    present = _conditions(status).get(kind, {})
    if (present.get("status"), present.get("reason"), present.get("message")) == (
        value, reason, message,
    ):  # fmt: skip
        return
    moved = present.get("lastTransitionTime") if present.get("status") == value else None
    _drop_condition(status, kind)
    status.setdefault("conditions", []).append(
        {
            "type": kind,
            "status": value,
            "lastUpdateTime": timestamp(),
            "lastTransitionTime": moved or timestamp(),
            "reason": reason,
            "message": message,
        }
    )


def _drop_condition(status: Object, kind: str) -> None:
    kept = [c for c in status.get("conditions", []) if c["type"] != kind]
    if kept or "conditions" in status:
        status["conditions"] = kept
    if not kept:
        status.pop("conditions", None)
