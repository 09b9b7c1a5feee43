"""How the sub-commands print: one line each for people, or one JSON document for programs."""

import argparse
import json
from collections.abc import Iterable
from typing import Any

from django.core.management.base import BaseCommand


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    """Let the caller choose JSON."""
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def add_namespace_argument(parser: argparse.ArgumentParser) -> None:
    """The environment, by its namespace."""
    parser.add_argument("namespace", help="namespace of the environment")


def write(
    command: BaseCommand, options: dict[str, Any], document: Any, lines: Iterable[str]
) -> None:
    """Print the document, or the lines."""
    if options["json"]:
        command.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, default=str))
        return
    for line in lines:
        command.stdout.write(line)
