"""Deployments against the test API server: to success, and back when it does not come."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.delivery.choices import DeploymentPhase
from apps.delivery.errors import CannotCancel, NothingToRollBack
from apps.delivery.kube.cluster import Cluster
from apps.delivery.models import Deployment, Environment
from apps.delivery.rollout_queries import last_good_release
from apps.delivery.services import deployments, rollouts
from apps.delivery.services.leases import claim

from .kube_server import KubeServer
from .kube_server.kinds import BY_NAME
from .rollouts import (
    BAD,
    BETTER,
    GOOD,
    Host,
    deploy,
    drive,
    live,
    live_image,
    make_environment,
    make_release,
    queue,
)

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_first_deployment_succeeds(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    deployment = deploy(environment, GOOD, cluster)
    assert deployment.phase == DeploymentPhase.SUCCEEDED
    assert deployment.percent == 100
    assert live_image(server).endswith(GOOD)
    assert host.asked == ["/loja.apps.example/ready"]


def test_it_tells_image_and_infrastructure(
    environment: Environment, cluster: Cluster, host: Host
) -> None:
    deployment = deploy(environment, GOOD, cluster)
    assert deployment.image_ref == f"registry.example/team/loja@{GOOD}"
    assert deployment.infra_version == "1"


@pytest.mark.parametrize(
    ("behaviour", "code"), [("crash", "crash_loop"), ("image-pull", "image_pull")]
)
def test_a_bad_image_is_rolled_back_with_its_reason(
    environment: Environment,
    cluster: Cluster,
    server: KubeServer,
    host: Host,
    behaviour: str,
    code: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    be_impatient(monkeypatch)
    deploy(environment, GOOD, cluster)
    server.kubelet.behaviours[BAD] = behaviour
    deployment = deploy(environment, BAD, cluster)
    assert deployment.phase == DeploymentPhase.ROLLED_BACK
    assert deployment.error_code == code
    assert live_image(server).endswith(GOOD)


def be_impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test waits a minute for an image."""
    zero = dict.fromkeys(rollouts.progress.ReasonCode, timedelta(0))
    zero[rollouts.progress.ReasonCode.NOT_READY] = None
    monkeypatch.setattr("apps.delivery.rollout_state.PATIENCE", zero)


def test_a_release_that_never_gets_ready_has_its_own_time_and_so_has_the_way_back(
    environment: Environment,
    cluster: Cluster,
    server: KubeServer,
    host: Host,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Report 11: the rollback does not share the time of the way forward."""
    deploy(environment, GOOD, cluster)
    server.kubelet.behaviours[BAD] = "never-ready"
    monkeypatch.setattr("apps.delivery.services.progress.ROLLOUT_BUDGET", timedelta(seconds=1))
    deployment = deploy(environment, BAD, cluster)
    assert deployment.phase == DeploymentPhase.ROLLED_BACK
    assert deployment.error_code == "not_ready"
    assert live_image(server).endswith(GOOD)


def test_quota_is_told_at_once(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    """Report 10: not after ten minutes of silence."""
    deploy(environment, GOOD, cluster)
    deployment = queue(environment, make_release(environment, BETTER), cluster)
    hold_quota(server)
    started = timezone.now()
    while not deployment.reasons and timezone.now() - started < timedelta(seconds=10):
        drive(deployment, cluster, seconds=0.5)
    assert deployment.phase == DeploymentPhase.PROGRESSING
    assert deployment.reasons[0]["code"] == "quota"
    assert "exceeded quota" in deployment.reasons[0]["message"]


def hold_quota(server: KubeServer) -> None:
    """A second quota that somebody else made: one pod, and that one runs already."""
    metadata = {"name": "tight", "namespace": "loja-main"}
    quota = {"kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": {"pods": "1"}}}
    server.store.put(BY_NAME["ResourceQuota"], quota)


def test_a_host_that_does_not_answer_sends_the_release_back(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    deploy(environment, GOOD, cluster)
    host.status = 503
    deployment = deploy(environment, BETTER, cluster)
    assert deployment.phase == DeploymentPhase.ROLLED_BACK
    assert deployment.error_code == "http_check_failed"
    assert "answers 503" in deployment.error_message
    assert live_image(server).endswith(GOOD)


def test_a_first_release_that_fails_has_nowhere_to_go_back_to(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    server.kubelet.behaviours[BAD] = "crash"
    deployment = deploy(environment, BAD, cluster)
    assert deployment.phase == DeploymentPhase.FAILED
    assert deployment.error_code == "crash_loop"
    assert deployment.active_environment is None


def test_a_rollback_counts_for_the_release_it_went_back_to(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    good = deploy(environment, GOOD, cluster)
    server.kubelet.behaviours[BAD] = "crash"
    deploy(environment, BAD, cluster)
    assert last_good_release(environment) == good.release


def test_fields_of_another_manager_stop_the_deployment(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    deploy(environment, GOOD, cluster)
    deployment = queue(environment, make_release(environment, BETTER), cluster)
    assert deployment.phase == DeploymentPhase.QUEUED


def test_one_deployment_at_a_time_and_the_next_one_waits(
    environment: Environment, cluster: Cluster, host: Host
) -> None:
    first = queue(environment, make_release(environment), cluster)
    hold = claim(first, timezone.now)
    assert hold is not None
    hold.move(rollouts.Phase.PLANNED)
    hold.move(rollouts.Phase.APPLYING)
    second = queue(environment, make_release(environment, BETTER), cluster)
    assert claim(second, timezone.now) is None
    second.refresh_from_db()
    assert second.phase == DeploymentPhase.QUEUED


def test_a_newer_deployment_supersedes_the_waiting_one(
    environment: Environment, cluster: Cluster, host: Host
) -> None:
    older = queue(environment, make_release(environment), cluster)
    newer = queue(environment, make_release(environment, BETTER), cluster)
    older.refresh_from_db()
    assert older.phase == DeploymentPhase.CANCELLED
    assert f"Superseded by deployment {newer.pk}" in older.steps.get(name="cancelled").message
    assert drive(newer, cluster).phase == DeploymentPhase.SUCCEEDED


def test_rolling_back_with_nothing_under_way_changes_nothing(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    """Report 12."""
    deployment = deploy(environment, GOOD, cluster)
    before = server.store.version
    with pytest.raises(NothingToRollBack, match="No rollout is under way"):
        deployments.abort(deployment.pk, actor="ana", now=timezone.now())
    assert server.store.version == before


def test_an_operator_can_send_a_rollout_back(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    deploy(environment, GOOD, cluster)
    server.kubelet.behaviours[BAD] = "never-ready"
    deployment = queue(environment, make_release(environment, BAD), cluster)
    drive(deployment, cluster, seconds=1)
    assert deployment.phase == DeploymentPhase.PROGRESSING
    deployments.abort(deployment.pk, actor="ana", now=timezone.now())
    assert drive(deployment, cluster).phase == DeploymentPhase.ROLLED_BACK
    assert live_image(server).endswith(GOOD)


def test_a_first_rollout_that_is_sent_back_ends_where_it_is(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    server.kubelet.behaviours[BAD] = "never-ready"
    deployment = queue(environment, make_release(environment, BAD), cluster)
    drive(deployment, cluster, seconds=1)
    deployments.abort(deployment.pk, actor="ana", now=timezone.now())
    deployment.refresh_from_db()
    assert (deployment.phase, deployment.error_code) == (DeploymentPhase.FAILED, "aborted")
    assert deployment.active_environment is None


def test_a_stuck_deployment_does_not_hold_up_another_app(
    environment: Environment,
    cluster: Cluster,
    server: KubeServer,
    host: Host,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rollouts, "SLICE_SECONDS", 0.5)
    server.kubelet.behaviours[BAD] = "never-ready"
    stuck = queue(environment, make_release(environment, BAD), cluster)
    drive(stuck, cluster, seconds=1)
    other = make_environment("blog")
    good = queue(other, make_release(other, GOOD), cluster)
    assert drive(good, cluster, seconds=5).phase == DeploymentPhase.SUCCEEDED
    stuck.refresh_from_db()
    assert stuck.phase == DeploymentPhase.PROGRESSING


def test_a_fault_of_ours_ends_the_deployment_and_its_place_is_free(
    environment: Environment, cluster: Cluster, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(rollouts.applying, "apply_release", broken)
    deployment = deploy(environment, GOOD, cluster)
    assert (deployment.phase, deployment.error_code) == (DeploymentPhase.FAILED, "internal_error")
    assert deployment.active_environment is None


def test_a_deployment_deleted_in_the_cluster_is_noticed(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    server.kubelet.behaviours[BAD] = "never-ready"
    deployment = queue(environment, make_release(environment, BAD), cluster)
    drive(deployment, cluster, seconds=1)
    server.store.delete(BY_NAME["Deployment"], "loja-main", "loja")
    assert drive(deployment, cluster, seconds=10).error_code == "object_missing"


def test_a_release_is_promoted_as_it_is(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    tried = deploy(environment, GOOD, cluster)
    live_one = Environment.objects.create(
        app=environment.app, name="live", namespace="loja-live", hostname="loja-live.apps.example"
    )
    promoted = drive(queue(live_one, tried.release, cluster), cluster)
    assert (promoted.phase, promoted.release) == (DeploymentPhase.SUCCEEDED, tried.release)
    assert promoted.image_ref == tried.image_ref


def test_a_deployment_that_has_begun_cannot_be_cancelled(
    environment: Environment, cluster: Cluster, host: Host
) -> None:
    deployment = deploy(environment, GOOD, cluster)
    with pytest.raises(CannotCancel):
        deployments.cancel(deployment.pk, actor="ana", now=timezone.now())


def test_an_outage_of_the_cluster_is_waited_out(
    environment: Environment,
    cluster: Cluster,
    server: KubeServer,
    host: Host,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rollouts, "REST_AFTER_OUTAGE", timedelta(0))
    deployment = queue(environment, make_release(environment), cluster)
    server.fail_next(503, times=20)
    assert drive(deployment, cluster).phase == DeploymentPhase.SUCCEEDED


def test_deploying_again_changes_nothing_in_the_cluster(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    deploy(environment, GOOD, cluster)
    found = live(server, "Deployment", "loja")
    assert found["metadata"]["generation"] == 1


def test_steps_tell_the_story_in_order(
    environment: Environment, cluster: Cluster, host: Host
) -> None:
    deployment = deploy(environment, GOOD, cluster)
    names = list(deployment.steps.values_list("name", flat=True))
    assert names[:3] == ["plan checked", "started", "apply Namespace loja-main"]
    assert names[-3:] == ["applied", "rolled out", "verified"]
    assert Deployment.objects.count() == 1
