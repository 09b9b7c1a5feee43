"""Import packs from a folder with contents.json or from an archive."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import Progress

from apps.common.errors import DomainError
from apps.stickers.archives import PackSource, read_packs
from apps.stickers.choices import Visibility
from apps.stickers.services.importing import ImportReport, import_pack

DEFAULT_OWNER = "import@pombo"


class Command(BaseCommand):
    """Import packs; exit code 1 when nothing was imported, refusals are listed with their rule."""

    help = "Import packs from a folder with contents.json, a .zip or a .wastickers file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path)
        parser.add_argument("--visibility", choices=Visibility.values, default=Visibility.PUBLIC)
        parser.add_argument("--owner", default=DEFAULT_OWNER, help="JID that the packs belong to.")
        parser.add_argument("--dry-run", action="store_true", help="Only read, import nothing.")
        parser.add_argument("--json", action="store_true", dest="as_json")

    def handle(self, *args: Any, path: Path, **options: Any) -> None:
        try:
            sources = read_packs(path)
            if options["dry_run"]:
                self._list(sources)
                return
            reports = self._import(sources, **options)
        except (DomainError, OSError) as error:
            raise CommandError(str(error)) from error
        self._report(reports, as_json=options["as_json"])
        if not any(report.pack for report in reports):
            raise CommandError("Nothing was imported.")

    def _list(self, sources: list[PackSource]) -> None:
        for source in sources:
            self.stdout.write(f"{source.name}\t{source.publisher}\t{len(source.stickers)}")

    def _import(self, sources: list[PackSource], **options: Any) -> list[ImportReport]:
        reports = []
        with Progress(console=Console(stderr=True)) as progress:
            for source in sources:
                bar = progress.add_task(source.name, total=len(source.stickers))
                reports.append(
                    import_pack(
                        source,
                        owner_jid=options["owner"],
                        visibility=options["visibility"],
                        on_sticker=lambda bar=bar: progress.advance(bar),  # type: ignore[misc]
                    )
                )
        return reports

    def _report(self, reports: list[ImportReport], *, as_json: bool) -> None:
        rows = [_row(report) for report in reports]
        if as_json:
            self.stdout.write(json.dumps(rows, ensure_ascii=False))
            return
        for row in rows:
            self.stdout.write(
                f"{row['state']}\t{row['name']}\t{row['pack_key']}\t{row['accepted']}"
            )
            for refusal in row["refused"]:
                self.stdout.write(f"  {refusal['file']}\t{refusal['rule']}\t{refusal['message']}")


def _state(report: ImportReport) -> str:
    if report.pack is None:
        return "refused"
    return "imported" if report.is_new else "already there"


def _row(report: ImportReport) -> dict[str, Any]:
    return {
        "name": report.name,
        "pack_key": report.pack.pack_key if report.pack else None,
        "state": _state(report),
        "accepted": report.accepted,
        "refused": [
            {"file": item.file_name, "rule": item.rule, "message": item.message}
            for item in report.refused
        ],
    }
