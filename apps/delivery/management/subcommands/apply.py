"""Deploy a release: plan, confirm, and follow the rollout to its end."""

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.delivery.choices import DeploymentPhase
from apps.delivery.clusters import shared_cluster
from apps.delivery.management.output import add_json_argument, add_namespace_argument, write
from apps.delivery.management.subcommands.plan import ACTOR, new_plan, plan_lines
from apps.delivery.management.subcommands.status import deployment_lines, describe
from apps.delivery.models import Deployment
from apps.delivery.rollout_state import FINAL_PHASES, Phase
from apps.delivery.services import deployments, rollouts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The environment, the release, and how bold to be."""
    add_namespace_argument(parser)
    parser.add_argument("--release", type=int, help="number; the newest by default")
    parser.add_argument("--note", default="", help="why")
    parser.add_argument("--force", action="store_true", help="take over fields of other managers")
    parser.add_argument("--seconds", type=int, default=900, help="follow it for so long")
    add_json_argument(parser)


def handle(command: BaseCommand, options: dict[str, Any]) -> None:
    """Deploy and wait; exit code 1 unless it succeeded."""
    plan = new_plan(options)
    if not options["json"]:
        for line in plan_lines(plan):
            command.stdout.write(line)
    deployment = deployments.confirm_plan(
        plan.pk,
        actor=ACTOR,
        now=timezone.now(),
        note=options["note"],
        is_forced=options["force"],
    )
    follow(deployment, options["seconds"])
    write(command, options, describe(deployment), deployment_lines(deployment))
    if deployment.phase != DeploymentPhase.SUCCEEDED:
        raise CommandError(f"Deployment {deployment.pk} ended as {deployment.phase}.")


def follow(deployment: Deployment, seconds: float) -> None:
    """Drive open deployments here too, so that no worker need be running."""
    cluster, started = shared_cluster(), timezone.now()
    while Phase(deployment.phase) not in FINAL_PHASES:
        left = seconds - (timezone.now() - started).total_seconds()
        if left <= 0:
            return
        rollouts.drive(cluster, clock=timezone.now, max_seconds=min(left, 1.0))
        deployment.refresh_from_db()
