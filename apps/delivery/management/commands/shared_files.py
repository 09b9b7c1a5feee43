"""Shared files on the command line: what there is, and the sweep of what was left behind."""

import dataclasses
import json
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from apps.common.errors import DomainError
from apps.delivery import mongodb
from apps.delivery.services import shared_files


class Command(BaseCommand):
    """List shared files, show what an app takes, and sweep orphans."""

    help = "list, usage or sweep; each with --json."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        for name, text in {
            "list": "List an app's files, newest first.",
            "usage": "Show how much of its quota an app takes.",
            "sweep": "Delete what interrupted uploads and deletes left behind.",
        }.items():
            action = actions.add_parser(name, help=text)
            action.add_argument("--json", action="store_true", dest="as_json")
            if name != "sweep":
                action.add_argument("app", help="Code of the app.")

    def handle(self, *args: Any, action: str, as_json: bool, **options: Any) -> None:
        try:
            with mongodb.answering():
                rows = self._action(action)(**options)
        except DomainError as error:
            raise CommandError(error.message) from error
        if as_json:
            self.stdout.write(json.dumps(rows, default=str))
            return
        for row in rows:
            self.stdout.write("\t".join(map(str, row.values())))

    def _action(self, name: str) -> Callable[..., list[dict[str, Any]]]:
        return {"list": self.show_files, "usage": self.show_usage, "sweep": self.sweep_orphans}[
            name
        ]

    def show_files(self, *, app: str, **options: Any) -> list[dict[str, Any]]:
        """One line a version."""
        rows = shared_files.shared_store().rows(app)
        return [dataclasses.asdict(row) for row in rows[0 : len(rows)]]

    def show_usage(self, *, app: str, **options: Any) -> list[dict[str, Any]]:
        """Bytes taken and allowed."""
        used = shared_files.shared_store().used_bytes(app)
        return [{"app": app, "used": used, "quota": settings.SHARED_FILES_QUOTA_BYTES}]

    def sweep_orphans(self, **options: Any) -> list[dict[str, Any]]:
        """How many chunks went."""
        return [{"swept_chunks": shared_files.sweep()}]
