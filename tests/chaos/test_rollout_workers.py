"""A worker killed at any step of a deployment: another goes on, and nothing happens twice."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.delivery.kube_server import KubeServer
from tests.delivery.kube_server.kinds import BY_NAME
from tests.delivery.rollouts import BAD, BETTER, GOOD, Host

pytestmark = [pytest.mark.chaos]
ROOT = Path(__file__).parents[2]
LEASE_SECONDS = 2
FORWARD = [
    "queued",
    "planned",
    "applying",
    "apply Namespace loja-main",
    "apply ResourceQuota oon-runtime-quota: done",
    "apply Deployment loja",
    "apply Deployment loja: done",
    "apply Ingress loja: done",
    "progressing",
    "verifying",
]
BACK = [
    "rolling_back",
    "rollback: apply Deployment loja",
    "rollback: apply Deployment loja: done",
]


class Workers:
    """Processes on one SQLite file and one cluster."""

    def __init__(self, database: Path, server: KubeServer, host: Host) -> None:
        self.server = server
        self.environment = os.environ | {
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            "DATABASE_URL": f"sqlite:///{database}",
            "KUBE_URL": server.url,
            "KUBE_TOKEN": "admin",
            "DELIVERY_HEALTH_URL": host.template,
            "DELIVERY_LEASE_SECONDS": str(LEASE_SECONDS),
        }

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tests.delivery.rollout_worker", *arguments]
        return subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False
        )

    def deploy(self, digest: str) -> None:
        assert self.run("queue", digest).returncode == 0
        assert self.run("drive").returncode == 0

    def die_at(self, step: str) -> None:
        died = self.run("drive", step)
        assert died.returncode == -signal.SIGKILL, died.stderr

    def finish(self) -> None:
        """Start workers until the dead one's lease has run out and its deployment is over."""
        deadline = time.monotonic() + 30
        while any(row["active_environment_id"] for row in self.shown()):
            assert time.monotonic() < deadline, "the deployment is stuck"
            assert self.run("drive").returncode == 0

    def shown(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.run("show").stdout)
        return found


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    database = tmp_path_factory.mktemp("rollouts") / "empty.sqlite3"
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "DATABASE_URL": f"sqlite:///{database}",
    }
    command = [sys.executable, "-m", "django", "migrate", "-v", "0"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    return database


@pytest.fixture
def workers(migrated: Path, tmp_path: Path, settings: Any) -> Iterator[Workers]:
    database = tmp_path / "rollouts.sqlite3"
    shutil.copy(migrated, database)
    host = Host()
    with KubeServer() as server:
        yield Workers(database, server, host)
    host.close()


@pytest.mark.parametrize("step", FORWARD)
def test_another_worker_finishes_what_a_killed_one_began(workers: Workers, step: str) -> None:
    workers.run("queue", GOOD)
    workers.die_at(step)
    workers.finish()
    assert workers.shown() == [over("succeeded")]
    assert effective_writes(workers.server) == ["created"]


@pytest.mark.parametrize("step", BACK)
def test_another_worker_finishes_the_way_back(workers: Workers, step: str) -> None:
    workers.deploy(GOOD)
    workers.server.kubelet.behaviours[BAD] = "crash"
    workers.run("queue", BAD)
    workers.die_at(step)
    workers.finish()
    assert workers.shown()[-1] == over("rolled_back", error_code="crash_loop")
    assert effective_writes(workers.server) == ["created", BAD, GOOD]


def test_after_a_kill_the_next_deployment_finds_its_place_free(workers: Workers) -> None:
    workers.run("queue", GOOD)
    workers.die_at("apply Deployment loja: done")
    workers.finish()
    workers.deploy(BETTER)
    assert [row["phase"] for row in workers.shown()] == ["succeeded", "succeeded"]


def over(phase: str, *, error_code: str = "") -> dict[str, Any]:
    return {
        "phase": phase,
        "error_code": error_code,
        "lease_token": "",
        "active_environment_id": None,
    }


def effective_writes(server: KubeServer) -> list[str]:
    """What became of the Deployment's template, write by write."""
    changes = [change for change in server.store.log if change.kind == BY_NAME["Deployment"]]
    images = ["created"]
    for change in changes:
        before, after = template(change.before), template(change.after)
        if before and after and before != after:
            images.append(after["spec"]["containers"][0]["image"].partition("@")[2])
    return images


def template(deployment: Any) -> Any:
    return deployment["spec"]["template"] if deployment else None
