"""Show what a release would change in an environment; nothing is touched."""

import argparse
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from apps.delivery.clusters import shared_cluster
from apps.delivery.comparison import Action
from apps.delivery.management.output import add_json_argument, add_namespace_argument, write
from apps.delivery.models import DeploymentPlan
from apps.delivery.planning import PlannedChange
from apps.delivery.rollout_queries import environment_named, newest_release, release_numbered
from apps.delivery.services.plans import make_plan, read_plan

ACTOR = "command line"
_SIGNS = {Action.CREATE: "+", Action.UPDATE: "~", Action.DELETE: "-", Action.UNCHANGED: "="}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The environment and the release."""
    add_namespace_argument(parser)
    parser.add_argument("--release", type=int, help="number; the newest by default")
    add_json_argument(parser)


def handle(command: BaseCommand, options: dict[str, Any]) -> None:
    """Print the changes, the conflicts and the findings."""
    plan = new_plan(options)
    document = {"plan": plan.pk, "changes": plan.changes, "findings": plan.findings}
    write(command, options, document, plan_lines(plan))


def new_plan(options: dict[str, Any]) -> DeploymentPlan:
    """The plan that the options ask for."""
    environment = environment_named(options["namespace"])
    number = options["release"]
    release = release_numbered(environment.app, number) if number else newest_release(environment)
    now = timezone.now()
    return make_plan(environment, release, cluster=shared_cluster(), actor=ACTOR, now=now)


def plan_lines(plan: DeploymentPlan) -> Iterator[str]:
    """The plan as people read it."""
    content = read_plan(plan)
    for change in content.changes:
        yield from _change_lines(change)
    for finding in plan.findings:
        yield f"{finding['severity']}: {finding['object']} {finding['path']}: {finding['message']}"
    yield f"plan {plan.pk} until {plan.expires_at:%Y-%m-%d %H:%M:%S}"


def _change_lines(change: PlannedChange) -> Iterator[str]:
    yield f"{_SIGNS[change.action]} {change.key}"
    for difference in change.differences:
        yield f"    {difference.path}: {difference.before!r} -> {difference.after!r}"
    yield from (f"    conflict: {path} belongs to {owner}" for owner, path in change.conflicts)
    yield from (f"    problem: {problem}" for problem in change.problems)
