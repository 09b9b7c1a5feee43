"""Give an environment new secrets and restart its pods with them."""

import argparse
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from apps.delivery.clusters import shared_cluster
from apps.delivery.management.output import add_json_argument, add_namespace_argument, write
from apps.delivery.management.subcommands.plan import ACTOR
from apps.delivery.rollout_queries import environment_named
from apps.delivery.services.rotation import rotate_secrets


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The environment, and how much of it."""
    add_namespace_argument(parser)
    parser.add_argument("--database", action="store_true", help="the database password too")
    add_json_argument(parser)


def handle(command: BaseCommand, options: dict[str, Any]) -> None:
    """Rotate, and name the deployment that brings the new values to the pods."""
    deployment = rotate_secrets(
        environment_named(options["namespace"]),
        cluster=shared_cluster(),
        has_database=options["database"],
        actor=ACTOR,
        now=timezone.now(),
    )
    number = deployment.pk if deployment else None
    told = f"deployment {number}" if number else "the next deployment brings them to the pods"
    write(command, options, {"deployment": number}, [told])
