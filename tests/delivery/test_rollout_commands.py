"""`manage.py delivery plan|apply|status|rollback|doctor|domains`, for people and as JSON."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from apps.delivery.models import CustomDomain, Deployment, Environment
from apps.delivery.services.fleet import refresh_fleet

from .kube_server import KubeServer
from .rollouts import BAD, BETTER, GOOD, Host, cluster_of, deploy, live_image, make_release

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def configured(server: KubeServer, settings: Any) -> None:
    settings.KUBE_URL, settings.KUBE_TOKEN = server.url, "admin"


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("delivery", *arguments, stdout=out)
    return out.getvalue()


def run_json(*arguments: str) -> Any:
    return json.loads(run(*arguments, "--json"))


def test_plan_lists_what_would_happen(environment: Environment) -> None:
    make_release(environment)
    lines = run("plan", "loja-main").splitlines()
    assert lines[0] == "+ Namespace loja-main"
    assert "+ Deployment loja-main/loja" in lines
    assert Deployment.objects.count() == 0


def test_apply_deploys_and_tells_the_story(
    environment: Environment, server: KubeServer, host: Host
) -> None:
    make_release(environment)
    told = run("apply", "loja-main", "--note", "first")
    assert "verified" in told
    assert live_image(server).endswith(GOOD)


def test_apply_of_a_bad_release_fails_with_its_reason(
    environment: Environment, server: KubeServer, host: Host
) -> None:
    deploy(environment, GOOD, cluster_of(server))
    server.kubelet.behaviours[BAD] = "crash"
    make_release(environment, BAD)
    with pytest.raises(CommandError, match="ended as rolled_back"):
        run("apply", "loja-main")
    assert live_image(server).endswith(GOOD)


def test_status_shows_the_fleet_and_one_environment(
    environment: Environment, server: KubeServer, host: Host
) -> None:
    deploy(environment, GOOD, cluster_of(server))
    refresh_fleet(cluster_of(server), now=timezone.now())
    assert run("status").strip() == "loja-main\thealthy\t1/1\tin step"
    (shown,) = run_json("status", "loja-main")
    assert shown["phase"] == "succeeded"


def test_rollback_lists_the_choices_and_takes_one(
    environment: Environment, server: KubeServer, host: Host
) -> None:
    deploy(environment, GOOD, cluster_of(server))
    deploy(environment, BETTER, cluster_of(server))
    assert [row["release"] for row in run_json("rollback", "loja-main", "--list")] == [2, 1]
    assert run_json("rollback", "loja-main")["phase"] == "succeeded"
    assert live_image(server).endswith(GOOD)


def test_rollback_with_nothing_to_go_back_to_says_so(environment: Environment) -> None:
    with pytest.raises(CommandError, match="No earlier release has worked"):
        run("rollback", "loja-main")


def test_doctor_finds_a_good_cluster_good() -> None:
    assert all(row["is_fine"] for row in run_json("doctor"))


def test_doctor_names_what_is_wrong(settings: Any) -> None:
    settings.KUBE_TOKEN = "wrong"
    with pytest.raises(CommandError, match="not ready"):
        run("doctor")


def test_domains_are_listed_and_checked(environment: Environment, host: Host) -> None:
    CustomDomain.objects.create(environment=environment, host="loja.invalid")
    assert run("domains").startswith("loja.invalid\tloja-main\tadded")
    (row,) = run_json("domains", "--check", "--namespace", "loja-main")
    assert row["host"] == "loja.invalid"
