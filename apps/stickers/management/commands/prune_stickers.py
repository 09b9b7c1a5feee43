"""Remove stickers that no pack shows."""

import json
from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone
from rich.console import Console
from rich.progress import track

from apps.stickers.services.assets import remove_if_unused, unused_assets


class Command(BaseCommand):
    """Make room: stickers without a pack are removed with their files and copies."""

    help = "Remove stickers that no pack shows and that are older than some days."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--days", type=int, default=30, help="Younger ones stay.")
        parser.add_argument("--dry-run", action="store_true", help="Only count them.")
        parser.add_argument("--json", action="store_true", help="Report as JSON.")

    def handle(self, *args: Any, days: int, dry_run: bool, **options: Any) -> None:
        unused = list(unused_assets(before=timezone.now() - timedelta(days=days)))
        removed = 0
        if not dry_run:
            console = Console(stderr=True)
            removed = sum(remove_if_unused(pk) for pk in track(unused, "stickers", console=console))
        values = {"unused": len(unused), "removed": removed}
        if options["json"]:
            self.stdout.write(json.dumps(values))
            return
        for name, count in values.items():
            self.stdout.write(f"{name}\t{count}")
