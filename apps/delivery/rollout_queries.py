"""Reads of releases and deployments."""

from django.db.models import OuterRef, Q, QuerySet, Subquery

from apps.delivery.choices import DeploymentPhase
from apps.delivery.errors import EnvironmentNotFound, ReleaseNotFound
from apps.delivery.models import App, Deployment, Environment, Release
from apps.delivery.planning import Difference
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
    """Every environment in which a release works, with that release; three queries for all.

    Those with a deployment under way are left out: they are between two releases.
    """
    settled = Deployment.objects.filter(
        Q(phase=DeploymentPhase.SUCCEEDED) | Q(phase=DeploymentPhase.ROLLED_BACK),
        environment=OuterRef("pk"),
    ).order_by("-finished_at", "-id")
    environments = (
        Environment.objects.annotate(last_settled_id=Subquery(settled.values("pk")[:1]))
        .filter(last_settled_id__isnull=False, active_deployment=None)
        .select_related("app__plan")
        .prefetch_related("domains")
    )
    chosen = list(environments)
    ids = [environment.last_settled_id for environment in chosen]
    last = Deployment.objects.select_related("release", "fallback_release").in_bulk(ids)
    pairs = ((e, running_release(last[e.last_settled_id])) for e in chosen)
    return [(environment, release) for environment, release in pairs if release is not None]


def environment_named(namespace: str) -> Environment:
    """One environment with its app and plan. Raises EnvironmentNotFound."""
    found = Environment.objects.select_related("app__plan").filter(namespace=namespace).first()
    if found is None:
        raise EnvironmentNotFound(f"There is no environment {namespace!r}.")
    return found


def release_numbered(app: App, number: int) -> Release:
    """One release of an app. Raises ReleaseNotFound."""
    found = Release.objects.filter(app=app, number=number).first()
    if found is None:
        raise ReleaseNotFound(f"The app has no release #{number}.")
    return found


def newest_release(environment: Environment) -> Release:
    """The release made last for the environment's app. Raises ReleaseNotFound."""
    found = Release.objects.filter(app_id=environment.app_id).order_by("-number").first()
    if found is None:
        raise ReleaseNotFound("The app has no release yet.")
    return found


def release_differences(left: Release, right: Release) -> list[Difference]:
    """What changed between two releases: the image and each setting, by its path."""
    before = {"image_digest": left.image_digest, **left.config}
    after = {"image_digest": right.image_digest, **right.config}
    return [
        Difference(name, before.get(name), after.get(name))
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]
