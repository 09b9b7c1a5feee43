"""Show the custom domains with their states, or check them now."""

import argparse
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from apps.delivery.clusters import shared_cluster
from apps.delivery.management.output import add_json_argument, write
from apps.delivery.models import CustomDomain
from apps.delivery.services.domains import check_due_domains


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """One environment or all, shown or checked first."""
    parser.add_argument("--namespace", help="namespace of one environment")
    parser.add_argument("--check", action="store_true", help="check those that are due first")
    add_json_argument(parser)


def handle(command: BaseCommand, options: dict[str, Any]) -> None:
    """Print one domain a line."""
    if options["check"]:
        check_due_domains(shared_cluster(), now=timezone.now())
    chosen = CustomDomain.objects.select_related("environment").order_by("host")
    if options["namespace"]:
        chosen = chosen.filter(environment__namespace=options["namespace"])
    rows = [
        {
            "host": domain.host,
            "namespace": domain.environment.namespace,
            "status": domain.status,
            "reason": domain.reason,
            "next_check_at": domain.next_check_at,
        }
        for domain in chosen
    ]
    write(command, options, rows, ("\t".join(map(str, row.values())) for row in rows))
