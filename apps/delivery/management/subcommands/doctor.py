"""Check that this process can reach the cluster and may do what deployments need."""

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.delivery.clusters import shared_cluster
from apps.delivery.management.output import add_json_argument, write
from apps.delivery.services.doctor import examine


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Nothing but the form of the output."""
    add_json_argument(parser)


def handle(command: BaseCommand, options: dict[str, Any]) -> None:
    """Print one finding a line; exit code 1 when one of them stands in the way."""
    findings = examine(shared_cluster())
    rows = [{"name": f.name, "is_fine": f.is_fine, "message": f.message} for f in findings]
    lines = (f"{'ok' if f.is_fine else 'FAIL'}\t{f.name}\t{f.message}" for f in findings)
    write(command, options, rows, lines)
    if not all(finding.is_fine for finding in findings):
        raise CommandError("The cluster is not ready for deployments.")
