"""Check the objects of an app against schemas, rules and Pod Security, without a cluster."""

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.delivery.management.subcommands.render import add_environment_arguments, rendered
from apps.delivery.policy import errors_of
from apps.delivery.queries import preview_findings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The app and its environment."""
    add_environment_arguments(parser)


def handle(command: BaseCommand, options: dict[str, Any]) -> None:
    """Print one finding a line; exit code 1 when one of them would stop a deployment."""
    findings = preview_findings(rendered(options))
    for finding in findings:
        command.stdout.write(str(finding))
    if errors_of(findings):
        raise CommandError(f"{len(errors_of(findings))} errors.")
