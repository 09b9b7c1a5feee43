"""Deployments before and after the rollout: confirmed, queued, cancelled, sent back."""

from datetime import datetime

from django.db import transaction

from apps.delivery.choices import DeploymentKind, DeploymentPhase, StepStatus
from apps.delivery.comparison import Action
from apps.delivery.errors import (
    CannotCancel,
    DeploymentNotFound,
    NothingToChange,
    NothingToRollBack,
    PlanBlocked,
    PlanExpired,
)
from apps.delivery.kube.cluster import Cluster
from apps.delivery.models import Deployment, DeploymentPlan, DeploymentStep, Environment, Release
from apps.delivery.rollout_queries import last_good_release, release_numbered
from apps.delivery.rollout_state import TOUCHED_PHASES, Phase
from apps.delivery.services.leases import publish_end
from apps.delivery.services.plans import make_plan, read_plan
from apps.delivery.wake import wake_rollouts

_WAITING = (DeploymentPhase.QUEUED, DeploymentPhase.PLANNED)


@transaction.atomic
def confirm_plan(
    plan_id: int,
    *,
    actor: str,
    now: datetime,
    note: str = "",
    is_forced: bool = False,
    kind: DeploymentKind = DeploymentKind.DEPLOY,
) -> Deployment:
    """Queue the deployment that a plan describes; waiting ones of its environment are superseded.

    A plan is confirmed once: again gives the same deployment.
    Raises PlanExpired, PlanBlocked (fields of other managers are no obstacle when `is_forced`),
    NothingToChange.
    """
    plan = _locked_plan(plan_id)
    existing = Deployment.objects.filter(plan=plan).first()
    if existing is not None:
        return existing
    _check_plan(plan, is_forced=is_forced, now=now)
    deployment = Deployment(kind=kind, is_forced=is_forced, actor=actor, note=note)
    _queue(deployment, plan, now=now)
    return deployment


@transaction.atomic
def redeploy(
    environment: Environment, *, kind: DeploymentKind, actor: str, now: datetime
) -> Deployment | None:
    """Queue the release that works here once more, for its new domains or secrets.

    None when nothing has worked here yet, or when a deployment waits that will bring them anyway.
    """
    locked = Environment.objects.select_for_update().get(pk=environment.pk)
    release = last_good_release(locked)
    if release is None or locked.deployments.filter(phase=DeploymentPhase.QUEUED).exists():
        return None
    deployment = Deployment.objects.create(
        environment=locked,
        release=release,
        kind=kind,
        actor=actor,
        created_at=now,
        phase_since=now,
    )
    transaction.on_commit(wake_rollouts)
    return deployment


@transaction.atomic
def cancel(deployment_id: int, *, actor: str, now: datetime) -> Deployment:
    """Take a deployment back that has not touched the cluster. Raises CannotCancel."""
    deployment = _locked(deployment_id)
    if deployment.phase not in _WAITING:
        raise CannotCancel("The deployment has already begun; roll it back instead.")
    _end(deployment, f"Cancelled by {actor}.", now=now)
    return deployment


@transaction.atomic
def abort(deployment_id: int, *, actor: str, now: datetime) -> Deployment:
    """Send a deployment under way back to the last good release; a waiting one is cancelled.

    A first release has nothing to go back to: it ends where it is, as failed.
    Raises NothingToRollBack when nothing is under way.
    """
    deployment = _locked(deployment_id)
    if deployment.phase in _WAITING:
        _end(deployment, f"Cancelled by {actor}.", now=now)
        return deployment
    if Phase(deployment.phase) not in TOUCHED_PHASES:
        raise NothingToRollBack("No rollout is under way, so nothing was changed.")
    _send_back(deployment, actor=actor, now=now)
    transaction.on_commit(wake_rollouts)
    return deployment


def roll_back(
    environment: Environment,
    number: int | None,
    *,
    cluster: Cluster,
    actor: str,
    now: datetime,
    note: str = "",
) -> Deployment:
    """Bring an earlier release back at once: plan and confirmation in one.

    Without a number it is the release that worked before the present one.
    Raises NothingToRollBack, ReleaseNotFound, and what `make_plan` and `confirm_plan` raise.
    """
    release = release_to_return_to(environment, number)
    plan = make_plan(environment, release, cluster=cluster, actor=actor, now=now)
    return confirm_plan(plan.pk, actor=actor, now=now, note=note, kind=DeploymentKind.ROLLBACK)


def release_to_return_to(environment: Environment, number: int | None) -> Release:
    """The release of a rollback: the chosen one, or the one that worked before the present one.

    Raises NothingToRollBack, ReleaseNotFound.
    """
    if number is not None:
        return release_numbered(environment.app, number)
    present = last_good_release(environment)
    earlier = last_good_release(environment, other_than=present) if present else None
    if earlier is None:
        raise NothingToRollBack("No earlier release has worked here, so there is none to go to.")
    return earlier


def _locked_plan(plan_id: int) -> DeploymentPlan:
    found = DeploymentPlan.objects.select_for_update().filter(pk=plan_id).first()
    if found is None:
        raise PlanExpired("The plan is gone; make a new one.")
    return found


def _check_plan(plan: DeploymentPlan, *, is_forced: bool, now: datetime) -> None:
    if now >= plan.expires_at:
        raise PlanExpired("The plan is too old; make a new one.")
    content = read_plan(plan)
    if content.is_empty:
        raise NothingToChange("The cluster already is as this release wants it.")
    blockers = [finding["message"] for finding in plan.findings if finding["severity"] == "error"]
    blockers += content.problems
    if not is_forced:
        blockers += [
            f"{change.key.short}: {path} belongs to {manager}"
            for change in content.changes
            if change.action is not Action.UNCHANGED
            for manager, path in change.conflicts
        ]
    if blockers:
        raise PlanBlocked("The cluster would refuse this plan.", details={"problems": blockers})


def _queue(deployment: Deployment, plan: DeploymentPlan, *, now: datetime) -> None:
    """Store the deployment of a plan, in place of those that still wait."""
    deployment.plan = plan
    deployment.environment, deployment.release = plan.environment, plan.release
    deployment.fallback_release = last_good_release(plan.environment, other_than=plan.release)
    deployment.created_at = deployment.phase_since = now
    deployment.save()
    _supersede(deployment, now=now)
    transaction.on_commit(wake_rollouts)


def _locked(deployment_id: int) -> Deployment:
    found = Deployment.objects.select_for_update().filter(pk=deployment_id).first()
    if found is None:
        raise DeploymentNotFound(f"There is no deployment {deployment_id}.")
    return found


def _send_back(deployment: Deployment, *, actor: str, now: datetime) -> None:
    """Turn a rollout round. Whoever is at work on it loses the lease and changes nothing more."""
    deployment.phase_since, deployment.deadline_at = now, None
    deployment.lease_token, deployment.lease_until = "", None
    deployment.error_code, deployment.error_message = "aborted", f"Sent back by {actor}."
    if deployment.fallback_release_id is not None:
        deployment.phase = DeploymentPhase.ROLLING_BACK
        deployment.save()
        return
    deployment.phase, deployment.finished_at = DeploymentPhase.FAILED, now
    deployment.active_environment = None
    deployment.save()
    publish_end(deployment)


def _supersede(newer: Deployment, *, now: datetime) -> None:
    waiting = Deployment.objects.select_for_update().filter(
        environment=newer.environment, phase__in=_WAITING
    )
    for older in waiting.exclude(pk=newer.pk).order_by("pk"):
        _end(older, f"Superseded by deployment {newer.pk}.", now=now)


def _end(deployment: Deployment, message: str, *, now: datetime) -> None:
    deployment.phase = DeploymentPhase.CANCELLED
    deployment.error_code, deployment.error_message = "cancelled", message
    deployment.phase_since = deployment.finished_at = now
    deployment.active_environment = None
    deployment.lease_token, deployment.lease_until = "", None
    deployment.save()
    DeploymentStep.objects.create(
        deployment=deployment, name="cancelled", status=StepStatus.NOTE, message=message, at=now
    )
    publish_end(deployment)
