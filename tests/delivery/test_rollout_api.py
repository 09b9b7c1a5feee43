"""Releases, plans and deployments over HTTP, with the test API server behind them."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.delivery.models import ClusterStatus, Environment
from apps.delivery.services.fleet import refresh_fleet

from .kube_server import KubeServer
from .rollouts import BETTER, GOOD, Host, cluster_of, deploy, drive, make_release, queue

pytestmark = pytest.mark.django_db(transaction=True)
ROOT = "/api/v1/delivery"


@pytest.fixture
def writer(api_as: Any, server: KubeServer, settings: Any) -> Any:
    settings.KUBE_URL, settings.KUBE_TOKEN = server.url, "admin"
    return api_as("delivery:read", "delivery:write")


def post(client: Any, path: str, body: dict[str, Any] | None = None) -> Any:
    return client.post(f"{ROOT}/{path}", body or {}, format="json")


def test_a_release_goes_from_image_to_deployment(
    writer: Any, environment: Environment, server: KubeServer, host: Host
) -> None:
    release = post(writer, "releases/", {"app": "loja", "image_digest": GOOD})
    assert (release.status_code, release.data["number"]) == (201, 1)
    plan = post(writer, "deployment-plans/", {"environment": "loja-main"})
    assert {change["action"] for change in plan.data["changes"]} == {"create"}
    answer = post(writer, f"deployment-plans/{plan.data['id']}/confirm/", {"note": "first"})
    assert (answer.status_code, answer.data["phase"]) == (201, "queued")
    drive(environment.deployments.get(), cluster_of(server))
    shown = writer.get(f"{ROOT}/deployments/{answer.data['id']}/")
    assert (shown.data["phase"], shown.data["percent"]) == ("succeeded", 100)
    assert shown.data["steps"][-1]["name"] == "verified"


@pytest.mark.parametrize("digest", ["latest", "sha256:abc", "sha512:" + "a" * 64])
def test_a_release_needs_a_digest(writer: Any, environment: Environment, digest: str) -> None:
    answer = post(writer, "releases/", {"app": "loja", "image_digest": digest})
    assert (answer.status_code, answer.data["error"]["code"]) == (400, "invalid_digest")


def test_releases_are_compared_field_by_field(writer: Any, environment: Environment) -> None:
    make_release(environment, GOOD)
    make_release(environment, BETTER)
    answer = writer.get(f"{ROOT}/releases/compare/?app=loja&before=1&after=2")
    assert answer.data == [{"path": "image_digest", "before": GOOD, "after": BETTER}]


def test_a_rollback_chooses_the_release_before(
    writer: Any, environment: Environment, server: KubeServer, host: Host
) -> None:
    cluster = cluster_of(server)
    deploy(environment, GOOD, cluster)
    deploy(environment, BETTER, cluster)
    answer = post(writer, "deployments/rollback/", {"environment": "loja-main"})
    assert (answer.status_code, answer.data["release"], answer.data["kind"]) == (201, 1, "rollback")


def test_a_rollback_without_a_past_is_refused(
    writer: Any, environment: Environment, server: KubeServer, host: Host
) -> None:
    deploy(environment, GOOD, cluster_of(server))
    answer = post(writer, "deployments/rollback/", {"environment": "loja-main"})
    assert (answer.status_code, answer.data["error"]["code"]) == (409, "nothing_to_roll_back")


def test_a_waiting_deployment_is_cancelled(
    writer: Any, environment: Environment, server: KubeServer
) -> None:
    deployment = queue(environment, make_release(environment), cluster_of(server))
    answer = post(writer, f"deployments/{deployment.pk}/cancel/")
    assert answer.data["phase"] == "cancelled"
    again = post(writer, f"deployments/{deployment.pk}/abort/")
    assert again.data["error"]["code"] == "nothing_to_roll_back"


def test_without_a_cluster_a_plan_is_unavailable(
    api_as: Any, environment: Environment, settings: Any
) -> None:
    settings.KUBE_URL = settings.KUBECONFIG = ""
    make_release(environment)
    client = api_as("delivery:write")
    answer = post(client, "deployment-plans/", {"environment": "loja-main"})
    assert (answer.status_code, answer.data["error"]["code"]) == (503, "cluster_not_configured")


def test_the_fleet_and_the_cluster_answer_from_the_last_look(
    writer: Any, environment: Environment, server: KubeServer, host: Host
) -> None:
    deploy(environment, GOOD, cluster_of(server))
    refresh_fleet(cluster_of(server), now=timezone.now())
    assert writer.get(f"{ROOT}/fleet/").data["results"][0]["health"] == "healthy"
    assert writer.get(f"{ROOT}/cluster/").data["is_reachable"] is True
    assert ClusterStatus.objects.get().version.startswith("v1.36")


def test_reading_does_not_let_anybody_deploy(api_as: Any, environment: Environment) -> None:
    reader = api_as("delivery:read")
    assert post(reader, "releases/", {"app": "loja", "image_digest": GOOD}).status_code == 403
    assert reader.get(f"{ROOT}/deployments/").status_code == 200


def test_a_long_list_costs_as_many_queries_as_a_short_one(
    writer: Any, environment: Environment, server: KubeServer
) -> None:
    cluster = cluster_of(server)
    queue(environment, make_release(environment), cluster)
    count_queries(writer)  # the first call of a token also notes its use
    short = count_queries(writer)
    for _ in range(10):
        queue(environment, make_release(environment), cluster)
    assert count_queries(writer) == short


def count_queries(client: Any) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(f"{ROOT}/deployments/").status_code == 200
    return len(queries)
