"""The fleet: state, health and drift of every environment with one list of each kind."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.delivery.choices import DeploymentPhase, HealthStatus
from apps.delivery.comparison import Action
from apps.delivery.desired import desired_objects
from apps.delivery.fleet import state_of
from apps.delivery.kube.client import ClusterConfig, KubeClient
from apps.delivery.kube.cluster import Cluster
from apps.delivery.models import ClusterStatus, Deployment, Environment, EnvironmentStatus
from apps.delivery.services.fleet import refresh_fleet

from .kube_server import KubeServer
from .kube_server.kinds import BY_NAME
from .rollouts import (
    BAD,
    GOOD,
    NOW,
    Host,
    cluster_of,
    deploy,
    live,
    make_environment,
    make_release,
)

pytestmark = pytest.mark.django_db(transaction=True)


def settle(environment: Environment) -> list[dict[str, Any]]:
    """An environment whose release succeeded, without a rollout; its objects."""
    release = make_release(environment)
    Deployment.objects.create(
        environment=environment,
        release=release,
        phase=DeploymentPhase.SUCCEEDED,
        actor="ana",
        created_at=NOW,
        phase_since=NOW,
        finished_at=NOW,
    )
    environment.refresh_from_db()
    return desired_objects(environment, release)


def test_a_healthy_environment_has_not_drifted(
    environment: Environment, cluster: Cluster, host: Host
) -> None:
    deploy(environment, GOOD, cluster)
    assert refresh_fleet(cluster, now=timezone.now()) == 1
    status = EnvironmentStatus.objects.get(environment=environment)
    assert (status.health, status.has_drifted) == (HealthStatus.HEALTHY, False)
    assert (status.replicas_available, status.replicas_wanted) == (1, 1)


def test_drift_is_shown_field_by_field(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    deploy(environment, GOOD, cluster)
    service = live(server, "Service", "loja")
    service["spec"]["ports"][0]["targetPort"] = 9999
    server.store.put(BY_NAME["Service"], service)
    refresh_fleet(cluster, now=timezone.now())
    status = EnvironmentStatus.objects.get(environment=environment)
    assert status.has_drifted
    assert any("9999" in line for line in status.drift)


def test_an_object_nobody_wants_is_drift_too(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    deploy(environment, GOOD, cluster)
    stray = live(server, "Service", "loja")
    stray["metadata"] = stray["metadata"] | {"name": "old", "uid": "x"}
    server.store.put(BY_NAME["Service"], stray)
    refresh_fleet(cluster, now=timezone.now())
    status = EnvironmentStatus.objects.get(environment=environment)
    assert status.drift == ["+ Service old: not part of the release"]


def test_a_first_release_that_failed_leaves_no_status(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    server.kubelet.behaviours[BAD] = "crash"
    deploy(environment, BAD, cluster)
    assert refresh_fleet(cluster, now=timezone.now()) == 0


def test_an_environment_that_vanished_is_missing(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    deploy(environment, GOOD, cluster)
    server.store.delete(BY_NAME["Deployment"], "loja-main", "loja")
    refresh_fleet(cluster, now=timezone.now())
    status = EnvironmentStatus.objects.get(environment=environment)
    assert status.health == HealthStatus.MISSING


def test_an_unreachable_cluster_keeps_the_last_state(
    environment: Environment, cluster: Cluster, host: Host
) -> None:
    deploy(environment, GOOD, cluster)
    refresh_fleet(cluster, now=NOW)
    away = Cluster(KubeClient(ClusterConfig(url="http://127.0.0.1:1", max_attempts=1)))
    later = NOW + timedelta(minutes=1)
    assert refresh_fleet(away, now=later) == 0
    found = ClusterStatus.objects.get()
    assert (found.is_reachable, found.answered_at, found.checked_at) == (False, NOW, later)
    assert EnvironmentStatus.objects.get().health == HealthStatus.HEALTHY


def test_five_hundred_apps_cost_twelve_lists_at_most() -> None:
    with KubeServer(runs_controllers=False) as server:
        for index in range(500):
            put_all(server, settle(make_environment(f"app-{index:03}")))
        with CaptureQueriesContext(connection) as queries:
            assert refresh_fleet(cluster_of(server), now=NOW) == 500
        lists = [count for call, count in server.calls.items() if call.startswith("GET")]
    assert sum(lists) <= 12
    assert EnvironmentStatus.objects.filter(has_drifted=False).count() == 500
    assert len(queries) < 25


def put_all(server: KubeServer, objects: list[dict[str, Any]]) -> None:
    for each in json.loads(json.dumps(objects)):
        each["metadata"]["generation"] = 1
        server.store.put(BY_NAME[each["kind"]], each)


def test_status_of_an_environment_is_worked_out_without_a_cluster(
    environment: Environment,
) -> None:
    desired = settle(environment)
    state = state_of(desired, [])
    assert {diff.action for diff in state.drift} == {Action.CREATE}
    assert state.health == "missing"
