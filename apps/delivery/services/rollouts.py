"""Driving deployments: from queued to succeeded, or back to the release that worked.

Each phase is one function that may be entered again at any point: what was done is in the steps
and in the cluster, so a worker that takes over looks before it acts. Network calls are made
outside transactions; every write names the lease.
"""

import logging
import time
from datetime import timedelta

from apps.common.errors import DomainError
from apps.delivery.choices import StepStatus
from apps.delivery.errors import DeploymentLeaseLost
from apps.delivery.kube.cluster import Cluster
from apps.delivery.kube.errors import ClusterUnreachable
from apps.delivery.rollout_state import TOUCHED_PHASES, Phase
from apps.delivery.services import applying, progress, verification
from apps.delivery.services.leases import Clock, Hold, claim_next
from apps.delivery.services.plans import check_still_true

logger = logging.getLogger(__name__)
# One deployment gets this long when others wait for the same worker.
SLICE_SECONDS = 5.0
# A cluster that does not answer is left alone for so long.
REST_AFTER_OUTAGE = timedelta(seconds=15)
# Applying takes seconds; the rest is for outages and for workers that die.
APPLY_BUDGET = timedelta(minutes=10)
_MESSAGE_LENGTH = 1000


def drive(cluster: Cluster, *, clock: Clock, max_seconds: float) -> int:
    """Carry open deployments on, in turns, until none is left or the time is over.

    Tells how many turns were taken.
    """
    deadline = time.monotonic() + max_seconds
    turns = 0
    while (left := deadline - time.monotonic()) > 0:
        hold = claim_next(clock)
        if hold is None:
            return turns
        turns += 1
        take_turn(hold, cluster, seconds=min(SLICE_SECONDS, left))
    return turns


def take_turn(hold: Hold, cluster: Cluster, *, seconds: float) -> None:
    """Carry one claimed deployment on for a while, then hand it back."""
    deadline = time.monotonic() + seconds
    rest = timedelta(0)
    try:
        while Phase(hold.deployment.phase) in _STEPS and time.monotonic() < deadline:
            _advance(hold, cluster, deadline - time.monotonic())
    except ClusterUnreachable as outage:
        rest = _wait_out(hold, outage)
    except DeploymentLeaseLost:
        logger.warning("delivery.lease_lost", extra={"deployment_id": hold.deployment.pk})
        return
    hold.release(rest=rest)


def _advance(hold: Hold, cluster: Cluster, seconds: float) -> None:
    phase = Phase(hold.deployment.phase)
    _log(hold, phase.value)
    try:
        _STEPS[phase](hold, cluster, seconds)
    except (ClusterUnreachable, DeploymentLeaseLost):
        raise
    except DomainError as refusal:
        fail(hold, refusal.code, refusal.message)
    except Exception:
        # A fault of ours would meet every worker that takes over, so it ends the deployment.
        logger.exception("delivery.step_broken", extra={"deployment_id": hold.deployment.pk})
        fail(hold, "internal_error", "A step failed unexpectedly; the log says where.")


def fail(hold: Hold, code: str, message: str) -> None:
    """End the way forward: back to the last good release where something was changed."""
    deployment = hold.deployment
    told = {"error_code": code, "error_message": message[:_MESSAGE_LENGTH], "deadline_at": None}
    hold.note(f"failed in {deployment.phase}", message, status=StepStatus.FAILED)
    can_return = deployment.fallback_release_id is not None
    if Phase(deployment.phase) in TOUCHED_PHASES and can_return:
        hold.move(Phase.ROLLING_BACK, **told)
    elif deployment.phase == Phase.ROLLING_BACK:
        # The first reason is the one to mend; that the way back failed too is in the steps.
        hold.move(Phase.FAILED, deadline_at=None)
    else:
        hold.move(Phase.FAILED, **told)


def _check_plan(hold: Hold, cluster: Cluster, _seconds: float) -> None:
    """Queued: the cluster must still be as the plan saw it."""
    deployment = hold.deployment
    if deployment.plan is not None:
        check_still_true(deployment.plan, cluster=cluster)
    hold.note("plan checked")
    hold.move(Phase.PLANNED)


def _begin(hold: Hold, _cluster: Cluster, _seconds: float) -> None:
    """Planned: from here on the cluster changes."""
    hold.note("started")
    hold.move(Phase.APPLYING, deadline_at=hold.clock() + APPLY_BUDGET)


def _apply(hold: Hold, cluster: Cluster, _seconds: float) -> None:
    """Applying: every object, then what is left over."""
    deployment = hold.deployment
    if deployment.deadline_at is not None and hold.clock() >= deployment.deadline_at:
        # Whatever keeps killing or stopping the workers here, it has had its time.
        fail(hold, "apply_timed_out", "The objects could not be applied in time.")
        return
    applying.apply_release(hold, cluster, deployment.release, is_forced=deployment.is_forced)
    hold.note("applied")
    deadline = hold.clock() + progress.ROLLOUT_BUDGET
    hold.move(
        Phase.PROGRESSING,
        deadline_at=deadline,
        **applying.facts_of(deployment.environment, deployment.release),
    )


def _watch(hold: Hold, cluster: Cluster, seconds: float) -> None:
    """Progressing: until complete, hopeless, or this turn is over."""
    outcome = progress.follow(hold, cluster, hold.deployment.release, seconds=seconds)
    if outcome is progress.Outcome.COMPLETE:
        hold.note("rolled out")
        hold.move(Phase.VERIFYING, percent=100, reasons=[], deadline_at=verification.deadline(hold))
    elif isinstance(outcome, progress.GivenUp):
        fail(hold, outcome.code, outcome.message)


def _verify(hold: Hold, _cluster: Cluster, seconds: float) -> None:
    """Verifying: the host must answer."""
    trouble = verification.wait_http(hold, seconds=seconds)
    if trouble is None:
        hold.note("verified")
        hold.move(Phase.SUCCEEDED, deadline_at=None)
    elif trouble.is_final:
        fail(hold, "http_check_failed", trouble.message)


def _roll_back(hold: Hold, cluster: Cluster, seconds: float) -> None:
    """Rolling back: the last good release again, with a time budget of its own."""
    deployment = hold.deployment
    release = deployment.fallback_release
    assert release is not None, "checked before the move"  # noqa: S101 - tells mypy
    if deployment.deadline_at is None:
        hold.write(deadline_at=hold.clock() + progress.rollback_budget(), percent=0, reasons=[])
    if not hold.has_noted("rollback applied"):
        applying.apply_release(hold, cluster, release, is_forced=True, prefix="rollback: ")
        hold.note("rollback applied", f"release #{release.number}")
    outcome = progress.follow(hold, cluster, release, seconds=seconds)
    if outcome is progress.Outcome.COMPLETE:
        hold.note("rolled back", f"release #{release.number} runs again")
        facts = applying.facts_of(deployment.environment, release)
        hold.move(Phase.ROLLED_BACK, percent=100, reasons=[], deadline_at=None, **facts)
    elif isinstance(outcome, progress.GivenUp):
        fail(hold, outcome.code, outcome.message)


def _wait_out(hold: Hold, outage: ClusterUnreachable) -> timedelta:
    """An outage of the cluster's control plane: nothing is lost, but time goes by."""
    deployment = hold.deployment
    hold.note(f"no answer in {deployment.phase}", outage.message, status=StepStatus.NOTE)
    if deployment.deadline_at is not None and hold.clock() >= deployment.deadline_at:
        fail(hold, outage.code, outage.message)
    return REST_AFTER_OUTAGE


def _log(hold: Hold, step: str) -> None:
    extra = {"deployment_id": hold.deployment.pk, "step": step}
    logger.info("delivery.step", extra=extra)


_STEPS = {
    Phase.QUEUED: _check_plan,
    Phase.PLANNED: _begin,
    Phase.APPLYING: _apply,
    Phase.PROGRESSING: _watch,
    Phase.VERIFYING: _verify,
    Phase.ROLLING_BACK: _roll_back,
}
