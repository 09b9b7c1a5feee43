"""Run the curation of automatic packs, or only show what it would do."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError
from django.utils import timezone

from apps.common.errors import DomainError
from apps.stickers.choices import CurationReason, CurationVerdict
from apps.stickers.curation.rules import Decision, Mode, Verdict
from apps.stickers.services.curation import CurationReport, pack_title, run_curation


class Command(BaseCommand):
    """Exit code 1 when the run failed; every run is kept with its decisions for the admin."""

    help = "Make automatic packs from classified stickers; --dry-run only shows the plan."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--mode", choices=[mode.value for mode in Mode], default="additions")
        parser.add_argument("--dry-run", action="store_true", help="Report a plan, write no pack.")
        parser.add_argument("--refused", action="store_true", help="List refused stickers as well.")
        parser.add_argument("--json", action="store_true", dest="as_json")

    def handle(self, *args: Any, mode: str, **options: Any) -> None:
        try:
            report = run_curation(
                Mode(mode),
                actor="manage.py curate",
                now=timezone.now(),
                is_dry_run=options["dry_run"],
            )
        except (DomainError, DatabaseError) as error:
            raise CommandError(str(error)) from error
        if options["as_json"]:
            self.stdout.write(json.dumps(_as_json(report), ensure_ascii=False))
        else:
            self._report(report, lists_refused=options["refused"])

    def _report(self, report: CurationReport, *, lists_refused: bool) -> None:
        for pack in report.plan.packs:
            title = pack_title(pack.theme_key, pack.volume)
            self.stdout.write(
                f"{pack.status}\t{title}\t{len(pack.items)}\t+{len(pack.added)}\t-{len(pack.removed)}"
            )
        for decision in report.plan.decisions:
            if decision.verdict is not Verdict.REFUSED or lists_refused:
                self.stdout.write(f"  {_line(decision)}")
        for name, count in sorted(report.run.summary.items()):
            self.stdout.write(f"{name}\t{count}")


def _line(decision: Decision) -> str:
    subject = decision.asset_id or decision.pack_id or "-"
    verdict = CurationVerdict(decision.verdict.value).label
    reason = CurationReason(decision.reason.value).label
    return f"{verdict}\t{decision.theme_key or '-'}\t{subject}\t{reason}"


def _as_json(report: CurationReport) -> dict[str, Any]:
    return {
        "run": report.run.pk,
        "mode": report.run.mode,
        "dry_run": report.run.is_dry_run,
        "scanned": report.run.scanned_count,
        "skipped": report.skipped,
        "summary": report.run.summary,
        "packs": [
            {
                "pack_id": pack.pack_id,
                "theme": pack.theme_key,
                "volume": pack.volume,
                "owner": pack.owner,
                "status": pack.status,
                "stickers": list(pack.items),
                "added": list(pack.added),
                "removed": list(pack.removed),
            }
            for pack in report.plan.packs
        ],
        "decisions": [
            {
                "verdict": decision.verdict.value,
                "reason": decision.reason.value,
                "theme": decision.theme_key,
                "sticker": decision.asset_id,
                "pack_id": decision.pack_id,
                "score": decision.score,
            }
            for decision in report.plan.decisions
        ],
    }
