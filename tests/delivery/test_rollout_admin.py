"""The admin's way from Deploy to succeeded, its permissions, and its pages without a cluster."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from apps.delivery.models import Deployment, DeploymentPlan, Environment, Release
from apps.delivery.services.fleet import note_unreachable, refresh_fleet

from .kube_server import KubeServer
from .rollouts import BETTER, GOOD, NOW, Host, cluster_of, deploy, drive, make_release, queue

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def admin_client(owner: User, server: KubeServer, settings: Any) -> Client:
    settings.KUBE_URL, settings.KUBE_TOKEN = server.url, "admin"
    client = Client()
    client.force_login(owner)
    return client


def page(client: Client, name: str, *arguments: Any) -> str:
    answer = client.get(reverse(f"admin:delivery_{name}", args=arguments))
    assert answer.status_code == 200, answer.status_code
    return answer.content.decode()


def test_from_deploy_to_succeeded(
    admin_client: Client, environment: Environment, server: KubeServer, host: Host
) -> None:
    release = make_release(environment)
    address = reverse("admin:delivery_environment_deploy", args=[environment.pk])
    answer = admin_client.post(address, {"release": release.pk})
    plan = DeploymentPlan.objects.get()
    assert answer.url == reverse("admin:delivery_deploymentplan_change", args=[plan.pk])
    assert "Deployment loja" in page(admin_client, "deploymentplan_change", plan.pk)
    confirm = reverse("admin:delivery_deploymentplan_confirm", args=[plan.pk])
    answer = admin_client.post(confirm, {"note": "first"})
    deployment = drive(Deployment.objects.get(), cluster_of(server))
    assert answer.url == reverse("admin:delivery_deployment_change", args=[deployment.pk])
    shown = page(admin_client, "deployment_change", deployment.pk)
    assert 'data-phase="succeeded"' in shown
    assert "first" in shown


def test_the_environment_page_leads_to_deploy(
    admin_client: Client, environment: Environment
) -> None:
    address = reverse("admin:delivery_environment_deploy", args=[environment.pk])
    assert address in page(admin_client, "environment_change", environment.pk)


def test_a_changed_image_is_shown_before_and_after(
    admin_client: Client, environment: Environment, server: KubeServer, host: Host
) -> None:
    deploy(environment, GOOD, cluster_of(server))
    make_release(environment, BETTER)
    address = reverse("admin:delivery_environment_deploy", args=[environment.pk])
    admin_client.post(address, {"release": Release.objects.first().pk})
    shown = page(admin_client, "deploymentplan_change", DeploymentPlan.objects.first().pk)
    assert f"<del>registry.example/team/loja@{GOOD}</del>" in shown
    assert f"<ins>registry.example/team/loja@{BETTER}</ins>" in shown


def test_a_refusal_is_told_on_the_page(
    admin_client: Client, environment: Environment, server: KubeServer
) -> None:
    queue(environment, make_release(environment), cluster_of(server))
    plan = DeploymentPlan.objects.get()
    Deployment.objects.all().delete()
    DeploymentPlan.objects.update(expires_at=timezone.now() - timedelta(hours=1))
    confirm = reverse("admin:delivery_deploymentplan_confirm", args=[plan.pk])
    answer = admin_client.post(confirm, follow=True)
    assert "too old" in answer.content.decode()
    assert not Deployment.objects.exists()


def test_a_waiting_deployment_is_stopped_once(
    admin_client: Client, environment: Environment, server: KubeServer
) -> None:
    deployment = queue(environment, make_release(environment), cluster_of(server))
    end = reverse("admin:delivery_deployment_end", args=[deployment.pk])
    admin_client.post(end)
    deployment.refresh_from_db()
    assert deployment.phase == "cancelled"
    assert "No rollout is under way" in admin_client.post(end, follow=True).content.decode()


def test_a_release_is_made_and_then_only_shown(
    admin_client: Client, environment: Environment
) -> None:
    add = reverse("admin:delivery_release_add")
    bad = admin_client.post(add, {"app": environment.app_id, "image_digest": "latest"})
    assert "by digest" in bad.content.decode()
    admin_client.post(add, {"app": environment.app_id, "image_digest": GOOD, "note": "x"})
    release = Release.objects.get()
    assert (release.number, release.actor) == (1, "owner")
    assert environment.namespace in page(admin_client, "release_change", release.pk)


def test_two_releases_are_compared_from_the_list(
    admin_client: Client, environment: Environment
) -> None:
    chosen = [make_release(environment, digest).pk for digest in (GOOD, BETTER)]
    data = {"action": "compare", "_selected_action": chosen}
    answer = admin_client.post(reverse("admin:delivery_release_changelist"), data, follow=True)
    assert BETTER in answer.content.decode()


def test_the_fleet_page_works_while_the_cluster_is_away(
    admin_client: Client, environment: Environment, server: KubeServer, host: Host
) -> None:
    deploy(environment, GOOD, cluster_of(server))
    refresh_fleet(cluster_of(server), now=NOW)
    note_unreachable("no route to host", now=NOW + timedelta(minutes=5))
    shown = page(admin_client, "environmentstatus_changelist")
    assert "has not answered since" in shown
    assert "loja-main" in shown


def test_a_viewer_sees_and_does_nothing(
    environment: Environment, server: KubeServer, settings: Any
) -> None:
    settings.KUBE_URL = server.url
    viewer = User.objects.create_user("viewer", is_staff=True)
    viewer.user_permissions.add(*Permission.objects.filter(codename__startswith="view_"))
    client = Client()
    client.force_login(viewer)
    deployment = queue(environment, make_release(environment), cluster_of(server))
    assert "data-end" not in page(client, "deployment_change", deployment.pk)
    for name, key in (
        ("deployment_end", deployment.pk),
        ("deploymentplan_confirm", deployment.plan_id),
    ):
        address = reverse(f"admin:delivery_{name}", args=[key])
        assert client.post(address).status_code == 403
    deploy_page = reverse("admin:delivery_environment_deploy", args=[environment.pk])
    assert client.get(deploy_page).status_code in {302, 403}


@pytest.mark.parametrize("name", ["release", "deployment", "deploymentplan"])
def test_lists_cost_as_many_queries_for_ten_rows_as_for_one(
    admin_client: Client, environment: Environment, server: KubeServer, name: str
) -> None:
    cluster = cluster_of(server)
    queue(environment, make_release(environment), cluster)
    page(admin_client, f"{name}_changelist")
    with CaptureQueriesContext(connection) as one:
        page(admin_client, f"{name}_changelist")
    for _ in range(9):
        queue(environment, make_release(environment), cluster)
    with CaptureQueriesContext(connection) as ten:
        page(admin_client, f"{name}_changelist")
    assert len(ten) <= len(one)
