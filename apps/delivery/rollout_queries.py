"""Reads of releases and deployments."""

from django.db.models import OuterRef, Q, QuerySet, Subquery

from apps.delivery.choices import DeploymentPhase
from apps.delivery.models import Deployment, Environment, Release
from apps.delivery.rollout_state import OPEN_PHASES


def last_good_release(
    environment: Environment, *, other_than: Release | None = None
) -> Release | None:
    """The release that last worked in an environment; None before the first success.

    A rollback that worked counts for the release it went back to.
    """
    settled = Deployment.objects.filter(
        Q(phase=DeploymentPhase.SUCCEEDED) | Q(phase=DeploymentPhase.ROLLED_BACK),
        environment=environment,
    ).select_related("release", "fallback_release")
    for deployment in settled.order_by("-finished_at", "-id").iterator(chunk_size=20):
        release = running_release(deployment)
        if release is not None and release != other_than:
            return release
    return None


def running_release(deployment: Deployment) -> Release | None:
    """The release that runs after a settled deployment."""
    if deployment.phase == DeploymentPhase.ROLLED_BACK:
        return deployment.fallback_release
    return deployment.release


def open_deployments() -> QuerySet[Deployment]:
    """Deployments that are not over, oldest first."""
    return Deployment.objects.filter(phase__in=list(OPEN_PHASES)).order_by("id")


def current_releases() -> list[tuple[Environment, Release]]:
    """Every environment in which a release works, with that release; three queries for all."""
    settled = Deployment.objects.filter(
        Q(phase=DeploymentPhase.SUCCEEDED) | Q(phase=DeploymentPhase.ROLLED_BACK),
        environment=OuterRef("pk"),
    ).order_by("-finished_at", "-id")
    environments = (
        Environment.objects.annotate(last_settled_id=Subquery(settled.values("pk")[:1]))
        .filter(last_settled_id__isnull=False)
        .select_related("app__plan")
        .prefetch_related("domains")
    )
    chosen = list(environments)
    ids = [environment.last_settled_id for environment in chosen]
    last = Deployment.objects.select_related("release", "fallback_release").in_bulk(ids)
    pairs = ((e, running_release(last[e.last_settled_id])) for e in chosen)
    return [(environment, release) for environment, release in pairs if release is not None]
