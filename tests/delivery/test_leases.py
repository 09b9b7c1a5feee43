"""One worker at a time, and a worker that was thought dead changes nothing."""

import threading
from datetime import datetime, timedelta

import psutil
import pytest
from django.utils import timezone

from apps.delivery.choices import DeploymentPhase
from apps.delivery.errors import DeploymentLeaseLost
from apps.delivery.kube.cluster import Cluster
from apps.delivery.models import Deployment, Environment
from apps.delivery.rollout_state import Phase
from apps.delivery.services import deployments
from apps.delivery.services.leases import Hold, claim, claim_next

from .kube_server import KubeServer
from .racing import race
from .rollouts import Host, drive, live_image, make_release, queue

pytestmark = pytest.mark.django_db(transaction=True)


def later() -> datetime:
    """A clock on which every lease has run out."""
    return timezone.now() + timedelta(hours=1)


def claimed(environment: Environment, cluster: Cluster) -> Hold:
    hold = claim(queue(environment, make_release(environment), cluster), timezone.now)
    assert hold is not None
    return hold


def test_a_claimed_deployment_is_not_claimed_again(
    environment: Environment, cluster: Cluster
) -> None:
    claimed(environment, cluster)
    assert claim_next(timezone.now) is None


def test_an_expired_lease_is_taken_over(environment: Environment, cluster: Cluster) -> None:
    first = claimed(environment, cluster)
    second = claim_next(later)
    assert second is not None
    assert second.token != first.token


def test_a_late_worker_changes_nothing(environment: Environment, cluster: Cluster) -> None:
    late = claimed(environment, cluster)
    claim_next(later)
    with pytest.raises(DeploymentLeaseLost):
        late.move(Phase.PLANNED)
    assert Deployment.objects.get().phase == DeploymentPhase.QUEUED


def test_a_late_worker_does_not_give_back_what_is_no_longer_its_own(
    environment: Environment, cluster: Cluster
) -> None:
    late = claimed(environment, cluster)
    second = claim_next(later)
    late.release()
    assert second is not None
    assert Deployment.objects.get().lease_token == second.token


def test_a_lease_is_renewed_at_a_third(environment: Environment, cluster: Cluster) -> None:
    hold = claimed(environment, cluster)
    before = Deployment.objects.get().lease_until
    hold.keep()
    assert Deployment.objects.get().lease_until == before
    hold.clock = later
    hold.keep()
    assert Deployment.objects.get().lease_until > before


def test_an_operator_who_aborts_takes_the_lease_away(
    environment: Environment, cluster: Cluster
) -> None:
    hold = claimed(environment, cluster)
    deployments.abort(hold.deployment.pk, actor="ana", now=timezone.now())
    with pytest.raises(DeploymentLeaseLost):
        hold.write(percent=5)


def test_of_many_workers_one_gets_the_deployment(
    environment: Environment, cluster: Cluster
) -> None:
    deployment = queue(environment, make_release(environment), cluster)
    won = race(lambda: claim(deployment, timezone.now) is not None)
    assert sorted(won, key=bool) == [False, False, False, True]


def test_what_cannot_be_applied_ends_in_time(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    deployment = queue(environment, make_release(environment), cluster)
    Deployment.objects.update(phase=DeploymentPhase.APPLYING, deadline_at=timezone.now())
    assert drive(deployment, cluster).phase == DeploymentPhase.FAILED
    assert deployment.error_code == "apply_timed_out"
    assert server.calls["PATCH deployments"] == 0


@pytest.mark.chaos
def test_two_hundred_deployments_leave_threads_and_memory_flat(
    environment: Environment, cluster: Cluster, server: KubeServer, host: Host
) -> None:
    """Report 18, with whole deployments."""
    digests = ["sha256:" + f"{index:064x}" for index in range(220)]
    for digest in digests[:20]:
        run_one(environment, cluster, digest)
    before, threads = memory_bytes(), threading.active_count()
    for digest in digests[20:]:
        run_one(environment, cluster, digest)
    assert live_image(server).endswith(digests[-1])
    assert threading.active_count() <= threads + 5
    assert memory_bytes() - before < 40 * 2**20


def run_one(environment: Environment, cluster: Cluster, digest: str) -> None:
    deployment = queue(environment, make_release(environment, digest), cluster)
    assert drive(deployment, cluster).phase == DeploymentPhase.SUCCEEDED


def memory_bytes() -> int:
    return int(psutil.Process().memory_info().rss)
