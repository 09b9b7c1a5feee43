"""Plans against the test API server: what is shown is what would happen, and only that."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.delivery.choices import DeploymentPhase
from apps.delivery.comparison import Action
from apps.delivery.desired import desired_objects
from apps.delivery.errors import NothingToChange, PlanBlocked, PlanExpired
from apps.delivery.kube.client import ClusterConfig, KubeClient
from apps.delivery.kube.cluster import Cluster
from apps.delivery.models import CustomDomain, DeploymentPlan, Environment, Release
from apps.delivery.planning import Plan
from apps.delivery.services import deployments, plans

from .kube_server import KubeServer
from .kube_server.kinds import BY_NAME
from .rollouts import (
    BETTER,
    GOOD,
    Host,
    cluster_of,
    deploy,
    drive,
    live,
    live_image,
    make_release,
    queue,
)

pytestmark = pytest.mark.django_db(transaction=True)


def plan_for(environment: Environment, release: Release, cluster: Cluster) -> DeploymentPlan:
    now = timezone.now()
    return plans.make_plan(environment, release, cluster=cluster, actor="ana", now=now)


def content_of(plan: DeploymentPlan) -> Plan:
    return plans.read_plan(plan)


def test_a_first_plan_creates_everything_and_touches_nothing(
    environment: Environment, cluster: Cluster, server: KubeServer
) -> None:
    """Report 3: a missing namespace is no error."""
    before = server.store.version
    plan = content_of(plan_for(environment, make_release(environment), cluster))
    assert {change.action for change in plan.changes} == {Action.CREATE}
    assert plan.problems == []
    assert server.store.version == before


def test_a_new_image_shows_as_one_changed_object(
    environment: Environment, cluster: Cluster, host: Host
) -> None:
    deploy(environment, GOOD, cluster)
    plan = content_of(plan_for(environment, make_release(environment, BETTER), cluster))
    (changed,) = [c for c in plan.changes if c.action is not Action.UNCHANGED]
    assert changed.key.kind == "Deployment"
    shown = {difference.path: difference.after for difference in changed.differences}
    image = next(path for path in shown if path.endswith(".image"))
    assert shown[image].endswith(BETTER)


def test_a_plan_without_changes_is_not_confirmed(
    environment: Environment, cluster: Cluster, host: Host
) -> None:
    done = deploy(environment, GOOD, cluster)
    plan = plan_for(environment, done.release, cluster)
    with pytest.raises(NothingToChange):
        deployments.confirm_plan(plan.pk, actor="ana", now=timezone.now())


def test_secret_values_are_in_no_plan(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    deploy(environment, GOOD, cluster)
    value = live(server, "Secret", "oon-runtime")["data"]["OON_SESSION_SECRET"]
    plan = plan_for(environment, make_release(environment, BETTER), cluster)
    assert value not in str(plan.changes)


def test_an_old_plan_is_not_confirmed(environment: Environment, cluster: Cluster) -> None:
    plan = plan_for(environment, make_release(environment), cluster)
    later = timezone.now() + timedelta(hours=1)
    with pytest.raises(PlanExpired):
        deployments.confirm_plan(plan.pk, actor="ana", now=later)


def test_confirming_twice_is_one_deployment(environment: Environment, cluster: Cluster) -> None:
    plan = plan_for(environment, make_release(environment), cluster)
    first = deployments.confirm_plan(plan.pk, actor="ana", now=timezone.now())
    assert deployments.confirm_plan(plan.pk, actor="rui", now=timezone.now()) == first


def test_a_cluster_that_changed_since_the_plan_stops_the_deployment(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    deploy(environment, GOOD, cluster)
    deployment = queue(environment, make_release(environment, BETTER), cluster)
    cluster.merge(service_key(), {"metadata": {"labels": {"x": "y"}}})
    assert drive(deployment, cluster).phase == DeploymentPhase.FAILED
    assert deployment.error_code == "plan_outdated"
    assert live_image(server).endswith(GOOD)


def service_key() -> Any:
    return plans.ObjectKey("Service", "loja-main", "loja")


def test_a_plan_that_waited_for_another_deployment_still_counts(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    first = queue(environment, make_release(environment, GOOD), cluster)
    plan = plan_for(environment, make_release(environment, BETTER), cluster)
    assert drive(first, cluster).phase == DeploymentPhase.SUCCEEDED
    second = deployments.confirm_plan(plan.pk, actor="ana", now=timezone.now())
    assert drive(second, cluster).phase == DeploymentPhase.SUCCEEDED
    assert live_image(server).endswith(BETTER)


def somebody_scales(server: KubeServer) -> None:
    found = live(server, "Deployment", "loja")
    found["spec"]["replicas"] = 3
    own, *rest = found["metadata"]["managedFields"]
    own["fieldsV1"]["f:spec"].pop("f:replicas")
    theirs = own | {
        "manager": "kubectl-scale",
        "operation": "Update",
        "fieldsV1": {"f:spec": {"f:replicas": {}}},
    }
    found["metadata"]["managedFields"] = [own, theirs, *rest]
    server.store.put(BY_NAME["Deployment"], found)


def test_a_field_of_another_manager_blocks_and_names_it(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    deploy(environment, GOOD, cluster)
    somebody_scales(server)
    plan = plan_for(environment, make_release(environment, BETTER), cluster)
    with pytest.raises(PlanBlocked) as caught:
        deployments.confirm_plan(plan.pk, actor="ana", now=timezone.now())
    (problem,) = caught.value.details["problems"]
    assert problem == "Deployment loja: .spec.replicas belongs to kubectl-scale"


def test_force_is_an_explicit_choice_that_takes_the_field_back(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    deploy(environment, GOOD, cluster)
    somebody_scales(server)
    plan = plan_for(environment, make_release(environment, BETTER), cluster)
    now = timezone.now()
    deployment = deployments.confirm_plan(plan.pk, actor="ana", now=now, is_forced=True)
    assert drive(deployment, cluster).phase == DeploymentPhase.SUCCEEDED
    assert live(server, "Deployment", "loja")["spec"]["replicas"] == 1


def made_by_kubectl(environment: Environment, release: Release, server: KubeServer) -> None:
    """The app as somebody applied it from the client side, with a variable that we do not have."""
    objects = {each["kind"]: each for each in desired_objects(environment, release)}
    deployment = objects["Deployment"]
    containers = deployment["spec"]["template"]["spec"]["containers"]
    containers[0]["env"].append({"name": "OLD_FLAG", "value": "1"})
    cluster_of(server).apply(objects["Namespace"])
    KubeClient(ClusterConfig(url=server.url)).request(
        "POST",
        "/apis/apps/v1/namespaces/loja-main/deployments",
        query={"fieldManager": "kubectl-client-side-apply"},
        body=deployment,
    )


def test_what_kubectl_applied_is_taken_over_and_its_leftovers_are_shown_first(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    made_by_kubectl(environment, make_release(environment, GOOD), server)
    deployment = queue(environment, make_release(environment, BETTER), cluster)
    assert deployment.plan is not None
    changes = content_of(deployment.plan).changes
    change = next(c for c in changes if c.key.kind == "Deployment")
    assert change.conflicts == ()
    assert any("OLD_FLAG" in difference.path for difference in change.differences)
    assert drive(deployment, cluster).phase == DeploymentPhase.SUCCEEDED
    found = live(server, "Deployment", "loja")["spec"]["template"]["spec"]["containers"][0]
    assert "OLD_FLAG" not in [variable["name"] for variable in found["env"]]


def test_a_removed_domain_is_shown_and_then_pruned(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    domain = CustomDomain.objects.create(
        environment=environment, host="loja.example", verified_at=timezone.now()
    )
    first = deploy(environment, GOOD, cluster)
    domain.delete()
    plan = plan_for(environment, first.release, cluster)
    gone = [c.key.kind for c in content_of(plan).changes if c.action is Action.DELETE]
    assert gone == ["Ingress", "Secret", "NetworkPolicy"]  # the last let the solver in
    deployment = deployments.confirm_plan(plan.pk, actor="ana", now=timezone.now())
    assert drive(deployment, cluster).phase == DeploymentPhase.SUCCEEDED
    ingresses = server.store.list(BY_NAME["Ingress"], "loja-main")
    assert [ingress["metadata"]["name"] for ingress in ingresses] == ["loja"]
