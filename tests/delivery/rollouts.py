"""What the rollout tests share: an app in the tables, and deployments driven to their end."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from django.utils import timezone

from apps.delivery.kube.client import ClusterConfig, KubeClient
from apps.delivery.kube.cluster import Cluster
from apps.delivery.models import App, Deployment, Environment, Plan, Release
from apps.delivery.services import deployments, plans, releases, rollouts

from .kube_server import KubeServer
from .kube_server.kinds import BY_NAME

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
GOOD = "sha256:" + "a" * 64
BETTER = "sha256:" + "b" * 64
BAD = "sha256:" + "bad0" * 16


def cluster_of(server: KubeServer) -> Cluster:
    config = ClusterConfig(
        url=server.url, token="admin", first_delay_seconds=0.01, max_delay_seconds=0.05
    )
    return Cluster(KubeClient(config))


def make_environment(code: str = "loja", *, slots: int = 1, **app: Any) -> Environment:
    plan, _ = Plan.objects.get_or_create(
        code=f"slots-{slots}", defaults={"name": "Plan", "slots": slots}
    )
    made = App.objects.create(
        code=code,
        name=code.title(),
        plan=plan,
        image_repository=f"registry.example/team/{code}",
        **app,
    )
    return Environment.objects.create(
        app=made, namespace=f"{code}-main", hostname=f"{code}.apps.example"
    )


def make_release(environment: Environment, digest: str = GOOD) -> Release:
    return releases.create_release(environment.app, digest, actor="ana", now=NOW)


def queue(environment: Environment, release: Release, cluster: Cluster) -> Deployment:
    now = timezone.now()
    plan = plans.make_plan(environment, release, cluster=cluster, actor="ana", now=now)
    return deployments.confirm_plan(plan.pk, actor="ana", now=now)


def deploy(environment: Environment, digest: str, cluster: Cluster) -> Deployment:
    """A release from plan to end."""
    deployment = queue(environment, make_release(environment, digest), cluster)
    return drive(deployment, cluster)


def drive(deployment: Deployment, cluster: Cluster, seconds: float = 20) -> Deployment:
    rollouts.drive(cluster, clock=timezone.now, max_seconds=seconds)
    deployment.refresh_from_db()
    return deployment


def live(server: KubeServer, kind: str, name: str, namespace: str = "loja-main") -> Any:
    home = "" if kind == "Namespace" else namespace
    return server.store.get(BY_NAME[kind], home, name)


def live_image(server: KubeServer, name: str = "loja") -> str:
    found = live(server, "Deployment", name, f"{name}-main")
    image: str = found["spec"]["template"]["spec"]["containers"][0]["image"]
    return image


class Host:
    """A web server that stands for all hosts; `status` is what it answers."""

    def __init__(self) -> None:
        self.status = 200
        self.asked: list[str] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def template(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/{{hostname}}/ready"

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def _handler_of(host: Host) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host.asked.append(self.path)
            self.send_response(host.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Quiet."""

    return Handler


Settings = Callable[..., Any]
