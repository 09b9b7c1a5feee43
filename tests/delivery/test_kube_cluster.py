"""The cluster adapter, through the real client library, against the test API server."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from apps.delivery.kube import errors
from apps.delivery.kube.client import ClusterConfig, KubeClient
from apps.delivery.kube.cluster import Cluster, WatchEvent
from apps.delivery.kube.resources import ObjectKey
from tests.waiting import wait_until

from .kube_objects import config_map, deployment, namespace
from .kube_server import KubeServer
from .kube_server.kinds import BY_NAME

KEY = ObjectKey("ConfigMap", "loja-main", "c")


@pytest.fixture
def server() -> Iterator[KubeServer]:
    with KubeServer() as server:
        yield server


def client_of(server: KubeServer, waits: list[float] | None = None, **config: Any) -> KubeClient:
    waited = [] if waits is None else waits
    return KubeClient(ClusterConfig(url=server.url, token="admin", **config), sleep=waited.append)


@pytest.fixture
def cluster(server: KubeServer) -> Cluster:
    made = Cluster(client_of(server))
    made.apply(namespace())
    return made


def test_apply_creates_and_then_changes_nothing(cluster: Cluster) -> None:
    made = cluster.apply(config_map(a="1"))
    assert cluster.apply(config_map(a="1")) == made


def test_apply_removes_a_key_that_is_left_out(cluster: Cluster) -> None:
    cluster.apply(config_map(a="1", b="2"))
    assert cluster.apply(config_map(a="1"))["data"] == {"a": "1"}


def test_a_conflict_names_the_owner_and_the_field(cluster: Cluster, server: KubeServer) -> None:
    cluster.apply(config_map(a="1"))
    somebody_edits(server, {"data": {"a": "9"}})
    with pytest.raises(errors.FieldConflict) as caught:
        cluster.apply(config_map(a="2"))
    assert caught.value.owners == (errors.OwnedField("kubectl-edit", ".data.a"),)


def test_force_takes_the_field_back(cluster: Cluster, server: KubeServer) -> None:
    cluster.apply(config_map(a="1"))
    somebody_edits(server, {"data": {"a": "9"}})
    assert cluster.apply(config_map(a="2"), is_forced=True)["data"] == {"a": "2"}


def somebody_edits(server: KubeServer, patch: dict[str, Any]) -> None:
    client_of(server).request(
        "PATCH",
        "/api/v1/namespaces/loja-main/configmaps/c",
        query={"fieldManager": "kubectl-edit"},
        body=patch,
        content_type="application/merge-patch+json",
    )


def test_a_dry_run_stores_nothing(cluster: Cluster) -> None:
    assert cluster.apply(config_map(a="1"), is_dry_run=True)["data"] == {"a": "1"}
    assert cluster.get(KEY) is None


def test_a_dry_run_in_a_missing_namespace_says_so(cluster: Cluster) -> None:
    with pytest.raises(errors.ObjectMissing):
        cluster.apply(config_map(home="nowhere"), is_dry_run=True)


def test_only_the_first_create_wins(cluster: Cluster) -> None:
    cluster.create(config_map(a="1"))
    with pytest.raises(errors.ObjectExists):
        cluster.create(config_map(a="2"))
    assert (cluster.get(KEY) or {})["data"] == {"a": "1"}


def test_a_delete_for_another_object_of_that_name_does_nothing(cluster: Cluster) -> None:
    cluster.apply(config_map())
    with pytest.raises(errors.ObjectChanged):
        cluster.delete(KEY, uid="00000000-0000-0000-0000-000000000000")
    assert cluster.delete(KEY)
    assert not cluster.delete(KEY)


@pytest.mark.parametrize("status", [429, 503, 504, 500])
def test_passing_refusals_are_tried_again(
    cluster: Cluster, server: KubeServer, status: int
) -> None:
    server.fail_next(status, times=2)
    assert cluster.apply(config_map(a="1"))["data"] == {"a": "1"}


def test_lost_connections_are_tried_again(cluster: Cluster, server: KubeServer) -> None:
    server.drop_next(times=2)
    assert cluster.apply(config_map(a="1"))["data"] == {"a": "1"}


def test_the_wish_of_the_server_to_wait_is_heeded(server: KubeServer) -> None:
    waits: list[float] = []
    server.fail_next(429, retry_after=7)
    Cluster(client_of(server, waits)).apply(namespace())
    assert waits == [7.0]


def test_a_cluster_that_stays_away_is_reported(server: KubeServer) -> None:
    waits: list[float] = []
    server.fail_next(503, times=9)
    with pytest.raises(errors.ClusterUnreachable):
        Cluster(client_of(server, waits, max_attempts=4)).apply(namespace())
    assert len(waits) == 3


def test_a_create_whose_connection_broke_is_not_sent_twice(server: KubeServer) -> None:
    cluster = Cluster(client_of(server))
    cluster.apply(namespace())
    server.drop_next()
    with pytest.raises(errors.ClusterUnreachable):
        cluster.create(config_map())


def test_an_object_outside_the_schema_is_refused_at_once(
    cluster: Cluster, server: KubeServer
) -> None:
    before = server.calls["PATCH configmaps"]
    with pytest.raises(errors.ObjectRefused, match="expected string"):
        cluster.apply(config_map(a=5))  # type: ignore[arg-type]
    assert server.calls["PATCH configmaps"] == before + 1


def test_a_token_that_is_not_accepted_is_named(server: KubeServer) -> None:
    client = KubeClient(ClusterConfig(url=server.url, token="wrong"))
    with pytest.raises(errors.AccessDenied):
        Cluster(client).list_all("Pod")


def test_leftovers_of_client_side_apply_are_taken_over(
    cluster: Cluster, server: KubeServer
) -> None:
    client_of(server).request(
        "POST",
        "/api/v1/namespaces/loja-main/configmaps",
        query={"fieldManager": "kubectl-client-side-apply"},
        body=config_map(a="1", old="x"),
    )
    live = cluster.apply(config_map(a="1"))
    assert live["data"] == {"a": "1", "old": "x"}
    cluster.take_over(live, ["kubectl-client-side-apply"])
    assert cluster.apply(config_map(a="1"))["data"] == {"a": "1"}


def test_a_take_over_looks_again_when_the_object_changed(
    cluster: Cluster, server: KubeServer
) -> None:
    query = {"fieldManager": "kubectl-client-side-apply"}
    path = "/api/v1/namespaces/loja-main/configmaps"
    stale = client_of(server).request("POST", path, query=query, body=config_map(old="x"))
    somebody_edits(server, {"metadata": {"labels": {"x": "y"}}})
    taken = cluster.take_over(stale, ["kubectl-client-side-apply"])
    assert taken is not None
    assert taken["metadata"]["labels"]["x"] == "y"


def test_nothing_to_take_over_is_no_write(cluster: Cluster, server: KubeServer) -> None:
    live = cluster.apply(config_map(a="1"))
    before = server.store.version
    assert cluster.take_over(live, ["kubectl-client-side-apply"]) is None
    assert server.store.version == before


def test_long_lists_come_in_pages(cluster: Cluster, server: KubeServer) -> None:
    for index in range(1001):
        server.store.put(BY_NAME["ConfigMap"], config_map(f"c{index:04}"))
    assert len(cluster.list_all("ConfigMap", namespace="loja-main")) == 1001
    assert server.calls["GET configmaps"] == 2


def test_a_watch_reports_what_is_there_and_what_comes(cluster: Cluster) -> None:
    cluster.apply(config_map("first"))
    events = watching(cluster)
    assert next_named(events) == ("ADDED", "first")
    cluster.apply(config_map("second"))
    assert next_named(events) == ("ADDED", "second")
    cluster.delete(ObjectKey("ConfigMap", "loja-main", "first"))
    assert next_named(events) == ("DELETED", "first")


def test_a_watch_survives_a_broken_connection(cluster: Cluster, server: KubeServer) -> None:
    events = opened_watch(cluster)
    server.cut_watches()
    cluster.apply(config_map("third"))
    assert ("ADDED", "third") in iter(lambda: next_named(events), None)


def test_a_watch_survives_a_version_that_is_gone(cluster: Cluster, server: KubeServer) -> None:
    events = opened_watch(cluster)
    with server.store.changed:
        write_behind(server, "third")
        server.store.compact()
    assert ("ADDED", "third") in iter(lambda: next_named(events), None)


def test_a_watch_ends_at_its_deadline(cluster: Cluster) -> None:
    assert list(cluster.watch("Pod", deadline_seconds=0.5, window_seconds=1))[-1] is None


def opened_watch(cluster: Cluster) -> Iterator[WatchEvent | None]:
    """A watch that has listed and is now reading its stream."""
    cluster.apply(config_map("first"))
    events = watching(cluster)
    assert next_named(events) == ("ADDED", "first")
    cluster.apply(config_map("second"))
    assert next_named(events) == ("ADDED", "second")
    return events


def write_behind(server: KubeServer, name: str) -> None:
    server.store.put(BY_NAME["ConfigMap"], config_map(name))


def watching(cluster: Cluster, window_seconds: int = 60) -> Iterator[WatchEvent | None]:
    return cluster.watch(
        "ConfigMap",
        namespace="loja-main",
        deadline_seconds=20,
        window_seconds=window_seconds,
    )


def next_named(events: Iterator[WatchEvent | None]) -> tuple[str, str]:
    event = next(event for event in events if event is not None)
    return event.type, event.object["metadata"]["name"]


def test_importing_the_adapter_loads_no_client_library() -> None:
    code = "import sys, apps.delivery.kube.cluster; sys.exit('kubernetes' in sys.modules)"
    root = Path(__file__).parents[2]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


def test_two_hundred_applies_and_watches_leave_threads_and_memory_flat(
    cluster: Cluster, server: KubeServer
) -> None:
    def one_round(index: int) -> None:
        cluster.apply(deployment(replicas=index % 2))
        events = cluster.watch("Deployment", namespace="loja-main", deadline_seconds=20)
        next(event for event in events if event)
        events.close()  # type: ignore[attr-defined]

    for index in range(20):
        one_round(index)
    process = psutil.Process()
    wait_until(lambda: threading.active_count() < 30)
    before = process.memory_info().rss
    for index in range(180):
        one_round(index)
    server.cut_watches()
    wait_until(lambda: threading.active_count() < 30)
    assert process.memory_info().rss - before < 20 * 2**20
