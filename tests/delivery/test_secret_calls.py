"""The calls of the secrets contract: made once, never lost in silence, never shown."""

from typing import Any

import pytest
from django.utils import timezone

from apps.delivery.choices import DeploymentPhase
from apps.delivery.kube.cluster import Cluster
from apps.delivery.models import Environment
from apps.delivery.queries import preview_context
from apps.delivery.secrets import CORE_SECRETS_MARK
from apps.delivery.services.fleet import refresh_fleet
from apps.delivery.services.rotation import rotate_secrets
from apps.delivery.services.secrets import ensure_secrets
from tests.waiting import wait_until

from .kube_objects import namespace
from .kube_server import KubeServer
from .kube_server.kinds import BY_NAME
from .racing import race
from .rollouts import GOOD, Host, cluster_of, deploy, drive, live, make_release, queue

pytestmark = pytest.mark.django_db(transaction=True)
CAPABLE = {"core.secrets": {"enabled": True}}


@pytest.fixture
def capable(environment: Environment) -> Environment:
    """An app whose plan has a secrets key."""
    plan = environment.app.plan
    plan.capabilities = CAPABLE
    plan.save()
    return environment


def nothing() -> None:
    """No lease to keep."""


def test_the_key_is_made_once_and_marked(
    capable: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    deploy(capable, GOOD, cluster)
    first = live(server, "Secret", "oon-core-secrets")["data"]
    assert CORE_SECRETS_MARK in live(server, "Namespace", "loja-main")["metadata"]["annotations"]
    deploy(capable, "sha256:" + "c" * 64, cluster)
    assert live(server, "Secret", "oon-core-secrets")["data"] == first


def test_a_key_that_vanished_is_not_made_anew(
    capable: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    deploy(capable, GOOD, cluster)
    server.store.delete(BY_NAME["Secret"], "loja-main", "oon-core-secrets")
    deployment = queue(capable, make_release(capable, "sha256:" + "c" * 64), cluster)
    drive(deployment, cluster)
    assert deployment.error_code == "core_secrets_lost"
    assert live(server, "Secret", "oon-core-secrets") is None


def test_makers_at_the_same_time_agree_on_one_value(
    environment: Environment, cluster: Cluster, server: KubeServer
) -> None:
    cluster.apply(namespace())
    context = preview_context(environment)
    seen = race(lambda: ensure_secrets(cluster, context, keep=nothing))
    assert len(seen) == 4
    assert len(set(seen)) == 1


def test_the_pull_secret_is_copied_from_its_home(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host, settings: Any
) -> None:
    settings.DELIVERY_PULL_SECRET_NAMESPACE = "registry"
    source = {
        "kind": "Secret",
        "metadata": {"name": "ghcr-oon", "namespace": "registry"},
        "type": "kubernetes.io/dockerconfigjson",
        "data": {".dockerconfigjson": "eyJhdXRocyI6eyJnaGNyLmlvIjp7fX19"},
    }
    server.store.put(BY_NAME["Secret"], source)
    deploy(environment, GOOD, cluster)
    assert live(server, "Secret", "ghcr-oon")["data"] == source["data"]


def test_new_secrets_restart_the_pods_and_old_ones_do_not(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    """Report 15."""
    deploy(environment, GOOD, cluster)
    deployment = rotate_secrets(
        environment, cluster=cluster, has_database=False, actor="ana", now=timezone.now()
    )
    assert deployment is not None
    assert drive(deployment, cluster).phase == DeploymentPhase.SUCCEEDED
    assert live(server, "Deployment", "loja")["metadata"]["generation"] == 2


def test_a_slow_first_start_is_waited_for(environment: Environment, host: Host) -> None:
    """Report 16: nothing is given up while the startup probe still has time."""

    with KubeServer(ready_seconds=3) as slow:
        assert deploy(environment, GOOD, cluster_of(slow)).phase == DeploymentPhase.SUCCEEDED


def test_pods_that_lose_readiness_later_are_shown_and_left_alone(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    """Report 16: with its database down an app is degraded, not restarted and not rolled back."""
    deploy(environment, GOOD, cluster)
    generation = live(server, "Deployment", "loja")["metadata"]["generation"]
    server.kubelet.behaviours[GOOD] = "never-ready"
    (pod,) = server.store.list(BY_NAME["Pod"], "loja-main")
    server.store.put(BY_NAME["Pod"], pod | {"status": {"phase": "Running"}})

    wait_until(lambda: not live(server, "Deployment", "loja")["status"].get("availableReplicas"))
    refresh_fleet(cluster, now=timezone.now())
    assert environment.status.health == "degraded"
    assert environment.deployments.count() == 1
    assert live(server, "Deployment", "loja")["metadata"]["generation"] == generation
