"""The handshake with Central: its context in, the result or the failure out, members activated."""

from datetime import datetime
from typing import Any

from django.db import transaction

from apps.delivery import central
from apps.delivery.central_texts import context_fields, failure_body, result_body
from apps.delivery.choices import DeploymentPhase
from apps.delivery.context import DeliveryContext, as_context
from apps.delivery.errors import CentralRefused, EnvironmentNotFound
from apps.delivery.models import Deployment, Environment, Release
from apps.delivery.services.releases import create_release


def fetch_context(release_id: str, *, now: datetime) -> DeliveryContext:
    """What Central says about a release, checked like any other context.

    Raises CentralUnreachable, CentralRefused, DeliveryContextError.
    """
    answer = central.call(
        "GET", f"/delivery/releases/{release_id}/context", call_id=f"context-{release_id}", now=now
    )
    context = as_context(context_fields(answer))
    if context.release_id != release_id:
        raise CentralRefused("Central answered for another release.")
    return context


def take_release(release_id: str, image_digest: str, *, actor: str, now: datetime) -> Release:
    """A release of Central as one of ours; taking it again gives the same one.

    The environment must exist: Central says how an app runs, not whose names are whose.
    Raises what `fetch_context` raises, EnvironmentNotFound, InvalidDigest.
    """
    existing = Release.objects.filter(external_id=release_id).first()
    if existing is not None:
        return existing
    context = fetch_context(release_id, now=now)
    environment = Environment.objects.filter(
        namespace=context.namespace, app__code=context.app_code
    ).first()
    if environment is None:
        raise EnvironmentNotFound(f"There is no environment {context.namespace!r} of this app.")
    with transaction.atomic():
        release = create_release(
            environment.app, image_digest, actor=actor, now=now, external_id=release_id
        )
        release.config = {**release.config, **_config_of(context)}
        release.save(update_fields=["config"])
    return release


def report(deployment_id: int, *, now: datetime) -> None:
    """Tell Central how a deployment of one of its releases ended; safe to repeat.

    Raises CentralUnreachable, CentralRefused.
    """
    deployment = Deployment.objects.select_related("release").get(pk=deployment_id)
    release_id = deployment.release.external_id
    if not release_id or not central.is_configured():
        return
    if deployment.phase == DeploymentPhase.SUCCEEDED:
        kind = "result"
        body = result_body(infra_version=deployment.infra_version, image_ref=deployment.image_ref)
    else:
        kind = "failure"
        body = failure_body(code=deployment.error_code, message=deployment.error_message)
    path = f"/delivery/releases/{release_id}/{kind}"
    central.call("POST", path, body, call_id=f"deployment-{deployment.pk}-{kind}", now=now)


def activate_member(environment: Environment, member_id: str, *, now: datetime) -> dict[str, Any]:
    """Have Central activate a member of the app; its answer.

    Raises CentralUnreachable, CentralRefused.
    """
    body = {"appCode": environment.app.code, "memberId": member_id}
    call_id = f"member-{environment.pk}-{member_id}"
    return central.call("POST", "/delivery/members/activate", body, call_id=call_id, now=now)


def _config_of(context: DeliveryContext) -> dict[str, Any]:
    """The settings that Central decides; all others stay the app's own."""
    return {
        "replicas": context.replicas,
        "resource_profile": context.resource_profile,
        "functional_capabilities": dict(context.functional_capabilities),
    }
