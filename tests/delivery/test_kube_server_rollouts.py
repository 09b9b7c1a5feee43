"""The server's controllers tell the same story as the recordings of a real cluster."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.delivery.kube.cluster import Cluster
from apps.delivery.rollout_state import find_reasons, read_progress
from tests.waiting import wait_until

from .kube_objects import DIGEST, OTHER_DIGEST, deployment, namespace
from .kube_server import KubeServer, recordings
from .kube_server.kinds import BY_NAME
from .rollouts import live

RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}


def conditions(found: Any) -> dict[str, tuple[str, str]]:
    rows = (found.get("status") or {}).get("conditions") or ()
    return {row["type"]: (row["status"], row["reason"]) for row in rows}


def apply(cluster: Cluster, wanted: dict[str, Any], **labels: str) -> None:
    cluster.apply(namespace(**labels))
    cluster.apply(wanted)


def shown(server: KubeServer) -> Any:
    return live(server, "Deployment", "loja")


def until(server: KubeServer, holds: Callable[[Any], bool]) -> Any:
    wait_until(lambda: holds(shown(server)))
    return shown(server)


def is_complete(found: Any) -> bool:
    return read_progress(found).is_complete


def test_a_finished_rollout_has_the_recorded_status(cluster: Cluster, server: KubeServer) -> None:
    recorded = recordings.watched("10-rollout-healthy", 4)[-1]
    apply(cluster, deployment())
    found = until(server, is_complete)
    assert conditions(found) == conditions(recorded)
    counts = {k: v for k, v in found["status"].items() if k.endswith("Replicas") or k == "replicas"}
    expected = recorded["status"]
    assert counts == {k: expected[k] for k in counts}


def test_the_first_state_after_an_update_is_the_finished_one_before(
    cluster: Cluster, server: KubeServer
) -> None:
    apply(cluster, deployment(digest=DIGEST))
    until(server, is_complete)
    with server.store.changed:
        answer = cluster_free_update(server)
    assert conditions(answer)["Progressing"] == ("True", "NewReplicaSetAvailable")
    assert not read_progress(answer).is_complete


def cluster_free_update(server: KubeServer) -> Any:
    """An update whose controllers cannot have run yet: the store is locked."""
    found = shown(server)
    found["metadata"]["generation"] += 1
    found["spec"]["template"]["spec"]["containers"][0]["image"] += "0"
    return server.store.put(BY_NAME["Deployment"], found)


def test_a_rollback_uses_the_old_replica_set_again(cluster: Cluster, server: KubeServer) -> None:
    apply(cluster, deployment(digest=DIGEST))
    until(server, is_complete)
    cluster.apply(deployment(digest=OTHER_DIGEST))
    until(server, lambda d: d["metadata"]["annotations"] == {REVISION: "2"} and is_complete(d))
    cluster.apply(deployment(digest=DIGEST))
    until(server, lambda d: d["metadata"]["annotations"] == {REVISION: "3"} and is_complete(d))
    sets = server.store.list(BY_NAME["ReplicaSet"], "loja-main")
    notes = sorted(s["metadata"]["annotations"].get(f"{REVISION}-history", "") for s in sets)
    assert notes == ["", "1"]


REVISION = "deployment.kubernetes.io/revision"


@pytest.mark.parametrize(
    ("behaviour", "number", "prefix"),
    [("image-pull", 11, "imagem"), ("crash", 12, "queda"), ("never-ready", 10, "loja-7f97ffb547")],
)
def test_failures_look_as_recorded(
    cluster: Cluster, server: KubeServer, behaviour: str, number: int, prefix: str
) -> None:
    recorded = recordings.exchange("11-rollout-failing", number).response["body"]
    pods = recordings.exchange("11-rollout-failing", 17).response["body"]["items"]
    theirs = [pod for pod in pods if pod["metadata"]["name"].startswith(prefix)]
    wanted = deployment(deadline_seconds=1, annotations={"fakenode/behave": behaviour})
    apply(cluster, wanted)
    found = until(server, lambda d: read_progress(d).is_deadline_exceeded)
    assert conditions(found)["Progressing"] == conditions(recorded)["Progressing"]
    ours = server.store.list(BY_NAME["Pod"], "loja-main")
    assert [r.code for r in find_reasons(found, ours)] == [
        r.code for r in find_reasons(recorded, theirs)
    ]


def test_pods_that_policy_refuses_are_told_as_recorded(
    cluster: Cluster, server: KubeServer
) -> None:
    recorded = recordings.exchange("09-pod-security", 2).response["body"]
    apply(cluster, deployment(replicas=1), **RESTRICTED)
    found = until(server, lambda d: "ReplicaFailure" in conditions(d))
    words = recorded["status"]["conditions"]
    theirs = next(c["message"] for c in words if c["type"] == "ReplicaFailure")
    ours = next(c for c in found["status"]["conditions"] if c["type"] == "ReplicaFailure")
    assert ours["message"].partition(" is forbidden")[2] == theirs.partition(" is forbidden")[2]


def test_no_old_pod_goes_before_a_new_one_is_ready(cluster: Cluster, server: KubeServer) -> None:
    apply(cluster, deployment(digest=DIGEST))
    until(server, is_complete)
    start = server.store.version
    cluster.apply(deployment(digest=OTHER_DIGEST))
    until(server, lambda d: d["metadata"]["annotations"] == {REVISION: "2"} and is_complete(d))
    states = [c.after for c in server.store.since(start) if c.kind == BY_NAME["Deployment"]]
    assert all(state["status"].get("availableReplicas", 0) >= 2 for state in states)
