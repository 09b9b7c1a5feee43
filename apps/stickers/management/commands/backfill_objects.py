"""Copy stickers into the object storage that are not there yet."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from rich.console import Console
from rich.progress import Progress

from apps.common.errors import DomainError
from apps.stickers import object_storage
from apps.stickers.services.backfill import BackfillReport, backfill, missing_assets


class Command(BaseCommand):
    """Make every sticker deliverable from the object storage; harmless to repeat."""

    help = "Copy stickers that have no copy in the object storage, and record what is there."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--limit", type=int, default=None, help="At most so many stickers.")
        parser.add_argument(
            "--adopt", action="store_true", help="First look where OmniZap stored its objects."
        )
        parser.add_argument("--dry-run", action="store_true", help="Only count what is missing.")
        parser.add_argument("--json", action="store_true", help="Report as JSON.")

    def handle(self, *args: Any, **options: Any) -> None:
        if not object_storage.is_configured():
            raise CommandError("Set OBJECT_STORAGE_BUCKET first; see docs/storage.md.")
        if options["dry_run"]:
            self._show({"missing": missing_assets().count()}, as_json=options["json"])
            return
        report = self._run(options)
        values = {
            "stored": report.stored,
            "adopted": report.adopted,
            "without_file": report.without_file,
            "failed": report.failed,
        }
        self._show(values, as_json=options["json"])
        if report.failed:
            raise CommandError("The object storage does not answer; run the command again.")

    def _run(self, options: dict[str, Any]) -> BackfillReport:
        total = missing_assets().count()
        with Progress(console=Console(stderr=True)) as progress:
            bar = progress.add_task("stickers", total=min(total, options["limit"] or total))
            try:
                return backfill(
                    now=timezone.now(),
                    limit=options["limit"],
                    adopts=options["adopt"],
                    on_sticker=lambda: progress.advance(bar),
                )
            except DomainError as error:
                raise CommandError(error.message) from error

    def _show(self, values: dict[str, int], *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(values))
            return
        for name, count in values.items():
            self.stdout.write(f"{name}\t{count}")
