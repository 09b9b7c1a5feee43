"""`manage.py delivery`: everything about apps from the command line, by sub-command."""

import pkgutil
from importlib import import_module
from types import ModuleType
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.common.errors import DomainError
from apps.delivery.management import subcommands


def subcommand_modules() -> dict[str, ModuleType]:
    """The sub-commands by name."""
    package = subcommands.__name__
    return {
        found.name: import_module(f"{package}.{found.name}")
        for found in pkgutil.iter_modules(subcommands.__path__)
    }


class Command(BaseCommand):
    """Dispatches to the sub-commands; refusals become one line and exit code 1."""

    help = "Render, check and deliver apps."

    def add_arguments(self, parser: CommandParser) -> None:
        parts = parser.add_subparsers(dest="subcommand", required=True, metavar="SUBCOMMAND")
        for name, module in subcommand_modules().items():
            summary = (module.__doc__ or "").strip().splitlines()[0]
            module.add_arguments(parts.add_parser(name, help=summary, description=summary))

    def handle(self, *args: Any, subcommand: str, **options: Any) -> None:
        try:
            subcommand_modules()[subcommand].handle(self, options)
        except DomainError as error:
            raise CommandError(error.message) from error
