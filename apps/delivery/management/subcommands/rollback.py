"""Send a rollout back, or bring an earlier release back."""

import argparse
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from apps.delivery.clusters import shared_cluster
from apps.delivery.management.output import add_json_argument, add_namespace_argument, write
from apps.delivery.management.subcommands.apply import follow
from apps.delivery.management.subcommands.plan import ACTOR
from apps.delivery.management.subcommands.status import deployment_lines, describe
from apps.delivery.models import Release
from apps.delivery.rollout_queries import environment_named
from apps.delivery.services import deployments

_SHOWN = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The environment, and where to."""
    add_namespace_argument(parser)
    parser.add_argument("--release", type=int, help="number; the one that worked before by default")
    parser.add_argument("--list", action="store_true", help="show the choices and do nothing")
    parser.add_argument("--note", default="", help="why")
    parser.add_argument("--seconds", type=int, default=900, help="follow it for so long")
    add_json_argument(parser)


def handle(command: BaseCommand, options: dict[str, Any]) -> None:
    """List the releases, or roll back and wait."""
    environment = environment_named(options["namespace"])
    if options["list"]:
        chosen = Release.objects.filter(app=environment.app)[:_SHOWN]
        rows = [_row(release) for release in chosen]
        write(command, options, rows, ("\t".join(map(str, row.values())) for row in rows))
        return
    deployment = deployments.roll_back(
        environment,
        options["release"],
        cluster=shared_cluster(),
        actor=ACTOR,
        now=timezone.now(),
        note=options["note"],
    )
    follow(deployment, options["seconds"])
    write(command, options, describe(deployment), deployment_lines(deployment))


def _row(release: Release) -> dict[str, Any]:
    return {
        "release": release.number,
        "image": release.short_digest,
        "made_at": release.created_at,
        "actor": release.actor,
        "note": release.note,
    }
