"""Print the objects of an app as YAML or JSON, without a cluster."""

import argparse
import json
from typing import Any

import yaml
from django.core.management.base import BaseCommand

from apps.delivery.errors import EnvironmentNotFound
from apps.delivery.models import Environment
from apps.delivery.queries import PREVIEW_DIGEST, preview_objects
from apps.delivery.services.apps import MAIN_ENVIRONMENT


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The app, its environment, and the form of the output."""
    add_environment_arguments(parser)
    parser.add_argument("--format", choices=["yaml", "json"], default="yaml")


def add_environment_arguments(parser: argparse.ArgumentParser) -> None:
    """What names an environment and the image to render for it."""
    parser.add_argument("app", help="code of the app")
    parser.add_argument("--environment", default=MAIN_ENVIRONMENT, help="name, `main` by default")
    parser.add_argument("--digest", default=PREVIEW_DIGEST, help="image digest, sha256:…")


def handle(command: BaseCommand, options: dict[str, Any]) -> None:
    """Print what a deployment would apply, secrets excepted."""
    objects = rendered(options)
    if options["format"] == "json":
        command.stdout.write(json.dumps(objects, indent=2, ensure_ascii=False))
    else:
        command.stdout.write(yaml.safe_dump_all(objects, sort_keys=False, allow_unicode=True))


def rendered(options: dict[str, Any]) -> list[dict[str, Any]]:
    """The objects that the options name. Raises EnvironmentNotFound, DeliveryContextError."""
    environment = (
        Environment.objects.select_related("app__plan")
        .filter(app__code=options["app"], name=options["environment"])
        .first()
    )
    if environment is None:
        raise EnvironmentNotFound(
            f"App {options['app']!r} has no environment {options['environment']!r}."
        )
    return preview_objects(environment, image_digest=options["digest"])
