"""Show the fleet, or the deployments of one environment."""

import argparse
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand

from apps.delivery.api.rollout_serializers import (
    DeploymentDetailSerializer,
    EnvironmentStatusSerializer,
)
from apps.delivery.management.output import add_json_argument, write
from apps.delivery.models import Deployment, EnvironmentStatus
from apps.delivery.rollout_queries import environment_named

_SHOWN = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """An environment, or none for all."""
    parser.add_argument("namespace", nargs="?", help="namespace of one environment")
    add_json_argument(parser)


def handle(command: BaseCommand, options: dict[str, Any]) -> None:
    """Print one line an environment, or the last deployments of one."""
    if options["namespace"]:
        chosen = environment_named(options["namespace"]).deployments.all()[:_SHOWN]
        lines = (line for deployment in chosen for line in deployment_lines(deployment))
        write(command, options, [describe(deployment) for deployment in chosen], lines)
        return
    fleet = EnvironmentStatus.objects.select_related("environment").order_by("environment_id")
    document = EnvironmentStatusSerializer(fleet, many=True).data
    write(command, options, document, (_fleet_line(status) for status in fleet))


def describe(deployment: Deployment) -> dict[str, Any]:
    """A deployment with its timeline, as the API gives it."""
    return dict(DeploymentDetailSerializer(deployment).data)


def deployment_lines(deployment: Deployment) -> Iterator[str]:
    """A deployment as people read it."""
    what = f"deployment {deployment.pk}\trelease #{deployment.release.number}"
    yield f"{what}\t{deployment.phase}\t{deployment.percent} %"
    for step in deployment.steps.all():
        yield f"  {step.at:%H:%M:%S}\t{step.name}\t{step.message}".rstrip()
    if deployment.error_code:
        yield f"  {deployment.error_code}: {deployment.error_message}"


def _fleet_line(status: EnvironmentStatus) -> str:
    pods = f"{status.replicas_available}/{status.replicas_wanted}"
    drift = "drifted" if status.has_drifted else "in step"
    name = status.environment.namespace
    return f"{name}\t{status.health}\t{pods}\t{drift}\t{status.reason}".rstrip()
