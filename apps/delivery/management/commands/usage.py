"""`manage.py usage`: counters beside their limits, invoices, a check of counters, tokens of apps.

`recompute` ends with code 1 when a counter had to be mended.
"""

import json
from dataclasses import asdict
from datetime import date
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from rich.console import Console
from rich.progress import track

from apps.common.errors import DomainError
from apps.delivery.api.usage_serializers import InvoiceSerializer, UsageRowSerializer
from apps.delivery.models import UsageTotal
from apps.delivery.services.usage import RecomputeReport, recompute
from apps.delivery.services.usage_accounts import APP_SCOPES, issue_app_token
from apps.delivery.services.usage_metrics import find_app
from apps.delivery.usage_queries import UsageRow, current_period, invoice_of, usage_rows

CENTS = 100
MAX_SHOWN = 1_000


class Command(BaseCommand):
    """Status, invoice, recompute, token."""

    help = "Show usage and invoices, check the counters, issue tokens to apps."

    def add_arguments(self, parser: CommandParser) -> None:
        parts = parser.add_subparsers(dest="subcommand", required=True, metavar="SUBCOMMAND")
        status = parts.add_parser("status", help="counters beside their limits, newest first")
        invoice = parts.add_parser("invoice", help="what a period costs beyond the plan")
        invoice.add_argument("app", help="code of the app")
        mend = parts.add_parser("recompute", help="count the events anew and mend the counters")
        mend.add_argument("--dry-run", action="store_true", help="tell differences, mend nothing")
        for part in (status, mend):
            part.add_argument("--app", help="code of the app; all without it")
        for part in (status, invoice, mend):
            part.add_argument("--period", type=date.fromisoformat, help="first day of the period")
            part.add_argument("--json", action="store_true", help="print one JSON document")
        token = parts.add_parser("token", help="issue an API token that reaches only one app")
        token.add_argument("app", help="code of the app")
        token.add_argument(
            "--scope", action="append", help=f"repeatable; {' and '.join(APP_SCOPES)} without it"
        )

    def handle(self, *args: Any, subcommand: str, **options: Any) -> None:
        try:
            getattr(self, f"_{subcommand}")(options)
        except DomainError as error:
            raise CommandError(error.message) from error

    def _status(self, options: dict[str, Any]) -> None:
        rows = usage_rows(_totals(options)[:MAX_SHOWN])
        if options["json"]:
            self._print_json(UsageRowSerializer(rows, many=True).data)
            return
        for row in rows:
            self.stdout.write(_line(row))

    def _invoice(self, options: dict[str, Any]) -> None:
        app, now = find_app(options["app"]), timezone.now()
        first_day = options["period"] or current_period(app, now).first_day
        invoice = invoice_of(app, first_day, now=now)
        if options["json"]:
            self._print_json(InvoiceSerializer(invoice).data)
            return
        for line in invoice.lines:
            self.stdout.write(f"{_line(line)}  {_money(line.charge_minor)} {invoice.currency}")
        state = "final" if invoice.is_final else "open"
        total = f"{_money(invoice.total_minor)} {invoice.currency}"
        self.stdout.write(f"{invoice.app} {first_day} ({state}): {total}")

    def _recompute(self, options: dict[str, Any]) -> None:
        totals, now = list(_totals(options).filter(pruned_at=None)), timezone.now()
        reports = [
            recompute(
                total.metric.app.code,
                total.metric.code,
                total.period,
                now=now,
                is_rehearsal=options["dry_run"],
            )
            for total in track(totals, console=Console(stderr=True), disable=options["json"])
        ]
        wrong = [report for report in reports if report.is_corrected]
        summary = f"{len(wrong)} of {len(reports)} counters differed from their events."
        if options["json"]:
            listed = [asdict(report) for report in wrong]
            self._print_json({"checked": len(reports), "reports": listed})
        else:
            for report in wrong:
                self.stdout.write(_difference(report))
        if wrong:
            raise CommandError(summary)
        if not options["json"]:
            self.stdout.write(summary)

    def _token(self, options: dict[str, Any]) -> None:
        app = find_app(options["app"])
        _token, secret = issue_app_token(app, scopes=options["scope"] or APP_SCOPES)
        self.stdout.write(secret)

    def _print_json(self, document: Any) -> None:
        self.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, default=str))


def _totals(options: dict[str, Any]) -> Any:
    rows = UsageTotal.objects.select_related("metric__app")
    if options["app"]:
        rows = rows.filter(metric__app=find_app(options["app"]))
    if options["period"]:
        rows = rows.filter(period=options["period"])
    return rows


def _line(row: UsageRow) -> str:
    included = "-" if row.included is None else row.included
    percent = "" if row.percent is None else f"  {row.percent} %"
    held = f"  held {row.reserved}" if row.reserved else ""
    return f"{row.app}  {row.metric}  {row.period.first_day}  {row.used}/{included}{percent}{held}"


def _difference(report: RecomputeReport) -> str:
    return (
        f"{report.app_code}  {report.metric_code}  {report.period}"
        f"  used {report.used_before} -> {report.used}"
        f"  held {report.reserved_before} -> {report.reserved}"
        f"  events {report.event_count_before} -> {report.event_count}"
    )


def _money(minor: int) -> str:
    return f"{minor // CENTS}.{minor % CENTS:02}"
