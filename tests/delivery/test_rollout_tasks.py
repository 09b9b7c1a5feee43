"""The worker's entry points, and that a confirmed plan wakes one."""

import ast
from pathlib import Path
from typing import Any

import pytest
from django_q.models import OrmQ

from apps.delivery import tasks
from apps.delivery.choices import DeploymentPhase
from apps.delivery.kube.cluster import Cluster
from apps.delivery.models import Environment, EnvironmentStatus
from config.schedules import SCHEDULES

from .kube_server import KubeServer
from .rollouts import Host, make_release, queue

pytestmark = pytest.mark.django_db(transaction=True)
DELIVERY = Path(tasks.__file__).parent


def test_the_worker_drives_deployments_and_looks_at_the_fleet(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host, settings: Any
) -> None:
    settings.KUBE_URL, settings.KUBE_TOKEN = server.url, "admin"
    deployment = queue(environment, make_release(environment), cluster)
    tasks.drive_rollouts()
    tasks.refresh_fleet()
    deployment.refresh_from_db()
    assert deployment.phase == DeploymentPhase.SUCCEEDED
    assert EnvironmentStatus.objects.get().health == "healthy"


@pytest.mark.parametrize("name", ["drive_rollouts", "refresh_fleet", "check_domains"])
def test_without_a_cluster_the_worker_does_nothing(name: str, settings: Any, db: None) -> None:
    settings.KUBE_URL = settings.KUBECONFIG = ""
    assert getattr(tasks, name)() is None
    assert f"apps.delivery.tasks.{name}" in {periodic.func for periodic in SCHEDULES}


def test_a_confirmed_plan_wakes_a_worker(environment: Environment, cluster: Cluster) -> None:
    before = OrmQ.objects.count()
    queue(environment, make_release(environment), cluster)
    assert OrmQ.objects.count() == before + 1


def test_only_the_adapter_imports_the_client_library() -> None:
    importers = {
        path.relative_to(DELIVERY).as_posix()
        for path in DELIVERY.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").partition(".")[0] == "kubernetes"
    }
    assert importers == {"kube/client.py"}
