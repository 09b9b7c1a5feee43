"""The same stories on the imitation and, where KUBECONFIG names one, on a real cluster.

On a real cluster only namespaces that begin with `pombo-test-` are made, and they are deleted
again. Its pods must become ready by themselves (a stand-in for nodes will do).
"""

import os
import secrets
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.delivery.choices import DeploymentPhase
from apps.delivery.comparison import Action
from apps.delivery.desired import desired_objects
from apps.delivery.fleet import LISTED_KINDS, Health, by_namespace, state_of
from apps.delivery.kube import errors
from apps.delivery.kube.client import ClusterConfig, KubeClient
from apps.delivery.kube.cluster import Cluster
from apps.delivery.kube.resources import ObjectKey
from apps.delivery.models import CustomDomain, Environment
from apps.delivery.rollout_state import PATIENCE
from apps.delivery.services import plans
from apps.delivery.services.secrets import live_checksum
from tests.waiting import wait_until

from .kube_objects import config_map, namespace
from .kube_server import KubeServer
from .rollouts import (
    BETTER,
    GOOD,
    Host,
    cluster_of,
    deploy,
    drive,
    make_environment,
    make_release,
    queue,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(params=["imitation", pytest.param("real", marks=pytest.mark.cluster)])
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    if request.param == "imitation":
        with KubeServer() as server:
            yield cluster_of(server)
        return
    if not os.environ.get("KUBECONFIG"):
        pytest.skip("KUBECONFIG names no cluster")
    client = KubeClient(ClusterConfig(kubeconfig=os.environ["KUBECONFIG"]))
    yield Cluster(client)
    client.close()


@pytest.fixture
def home(cluster: Cluster) -> Iterator[str]:
    """A namespace name of our own; whatever comes to be under it is deleted."""
    name = f"pombo-test-{secrets.token_hex(4)}"
    yield name
    cluster.delete(ObjectKey("Namespace", "", name))


@pytest.fixture
def environment(home: str) -> Environment:
    environment = make_environment()
    environment.namespace = home
    environment.save()
    return environment


def edit(cluster: Cluster, key: ObjectKey, patch: dict[str, Any]) -> None:
    """What somebody else would do with kubectl."""
    cluster._client.request(
        "PATCH",
        f"/api/v1/namespaces/{key.namespace}/configmaps/{key.name}",
        query={"fieldManager": "kubectl-edit"},
        body=patch,
        content_type="application/merge-patch+json",
    )


def test_apply_twice_changes_nothing_and_leaving_out_removes(cluster: Cluster, home: str) -> None:
    cluster.apply(namespace(home))
    first = cluster.apply(config_map(home=home, a="1", b="2"))
    assert cluster.apply(config_map(home=home, a="1", b="2")) == first
    assert cluster.apply(config_map(home=home, a="1"))["data"] == {"a": "1"}


def test_an_owned_field_is_a_conflict_until_forced(cluster: Cluster, home: str) -> None:
    cluster.apply(namespace(home))
    cluster.apply(config_map(home=home, a="1"))
    edit(cluster, ObjectKey("ConfigMap", home, "c"), {"data": {"a": "9"}})
    with pytest.raises(errors.FieldConflict) as caught:
        cluster.apply(config_map(home=home, a="2"))
    assert caught.value.owners == (errors.OwnedField("kubectl-edit", ".data.a"),)
    assert cluster.apply(config_map(home=home, a="2"), is_forced=True)["data"]["a"] == "2"


def test_a_dry_run_leaves_no_trace(cluster: Cluster, home: str) -> None:
    with pytest.raises(errors.ObjectMissing):
        cluster.apply(config_map(home=home), is_dry_run=True)
    cluster.apply(namespace(home))
    cluster.apply(config_map(home=home, a="1"), is_dry_run=True)
    assert cluster.get(ObjectKey("ConfigMap", home, "c")) is None


def test_an_object_outside_the_schema_is_refused(cluster: Cluster, home: str) -> None:
    cluster.apply(namespace(home))
    with pytest.raises(errors.ObjectRefused):
        cluster.apply(config_map(home=home) | {"dataa": {}})


@pytest.mark.parametrize("is_applied_before", [True, False])
def test_fields_of_client_side_apply_are_taken_over(
    cluster: Cluster, home: str, is_applied_before: bool
) -> None:
    cluster.apply(namespace(home))
    live = cluster._client.request(
        "POST",
        f"/api/v1/namespaces/{home}/configmaps",
        query={"fieldManager": "kubectl-client-side-apply"},
        body=config_map(home=home, a="1", old="x"),
    )
    if is_applied_before:
        live = cluster.apply(config_map(home=home, a="1"))
    cluster.take_over(live, ["kubectl-client-side-apply"])
    assert cluster.apply(config_map(home=home, a="1"))["data"] == {"a": "1"}


def test_a_watch_sees_what_comes_and_goes(cluster: Cluster, home: str) -> None:
    cluster.apply(namespace(home))
    cluster.apply(config_map(home=home, a="1"))
    events = cluster.watch("ConfigMap", namespace=home, deadline_seconds=30)
    seen = (event for event in events if event and event.object["metadata"]["name"] == "c")
    assert next(seen).type == "ADDED"
    cluster.apply(config_map(home=home, a="2"))
    assert next(seen).type == "MODIFIED"
    cluster.delete(ObjectKey("ConfigMap", home, "c"))
    assert next(seen).type == "DELETED"


def test_a_deployed_app_is_healthy_and_has_not_drifted(
    environment: Environment, cluster: Cluster, host: Host
) -> None:
    deployment = deploy(environment, GOOD, cluster)
    assert deployment.phase == DeploymentPhase.SUCCEEDED
    checksum = live_checksum(cluster, environment.namespace)
    desired = desired_objects(environment, deployment.release, secrets_checksum=checksum)
    listed = [o for k in LISTED_KINDS for o in cluster.list_all(k, labels=LABEL)]
    state = state_of(desired, by_namespace(listed)[environment.namespace])
    assert (state.health, state.drift, state.strays) == (Health.HEALTHY, (), ())


LABEL = "app.kubernetes.io/managed-by=pombo"


def test_a_second_release_changes_the_deployment_alone(
    environment: Environment, cluster: Cluster, host: Host
) -> None:
    deploy(environment, GOOD, cluster)
    deployment = queue(environment, make_release(environment, BETTER), cluster)
    assert deployment.plan is not None
    changes = plans.read_plan(deployment.plan).changes
    changed = [c.key.kind for c in changes if c.action is not Action.UNCHANGED]
    assert changed == ["Deployment"]
    assert drive(deployment, cluster).phase == DeploymentPhase.SUCCEEDED


def test_a_release_that_the_quota_stops_comes_back(
    environment: Environment, cluster: Cluster, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient = {**PATIENCE, **{code: timedelta(0) for code in PATIENCE if code == "quota"}}
    monkeypatch.setattr("apps.delivery.rollout_state.PATIENCE", impatient)
    deploy(environment, GOOD, cluster)
    deployment = queue(environment, make_release(environment, BETTER), cluster)
    tighten(cluster, environment.namespace)
    drive(deployment, cluster, seconds=60)
    assert deployment.phase == DeploymentPhase.ROLLED_BACK
    assert deployment.error_code == "quota"
    assert "exceeded quota" in deployment.error_message


def tighten(cluster: Cluster, home: str) -> None:
    """One pod and no more, by a quota that is in force."""
    metadata = {"name": "tight", "namespace": home}
    spec = {"hard": {"pods": "1"}}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": spec}
    cluster.create(quota)


def test_a_removed_domain_is_pruned(environment: Environment, cluster: Cluster, host: Host) -> None:
    domain = CustomDomain.objects.create(
        environment=environment, host="loja.example", verified_at=timezone.now()
    )
    first = deploy(environment, GOOD, cluster)
    assert len(cluster.list_all("Ingress", namespace=environment.namespace)) == 2
    domain.delete()
    drive(queue(environment, first.release, cluster), cluster)
    wait_until(lambda: len(cluster.list_all("Ingress", namespace=environment.namespace)) == 1)
