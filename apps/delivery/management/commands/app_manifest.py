"""`manage.py app_manifest`: check an app's `central.app.json`, declare its metrics, show the rules.

Exit codes of `check`: 0 valid, 1 broken rules (with `--strict` also warnings), 2 not readable.
"""

import json
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import translation

from apps.common.errors import DomainError
from apps.delivery.app_manifest import Issue, app_manifest_issues, app_manifest_warnings
from apps.delivery.app_manifest_schema import SCHEMA
from apps.delivery.services.usage_metrics import declare_metrics, find_app

MAX_BYTES = 1_000_000
BROKEN, UNREADABLE = 1, 2


class Command(BaseCommand):
    """Check, declare, schema."""

    help = "Check an app's central.app.json, declare its usage metrics, or print the JSON Schema."

    def add_arguments(self, parser: CommandParser) -> None:
        parts = parser.add_subparsers(dest="subcommand", required=True, metavar="SUBCOMMAND")
        check = parts.add_parser("check", help="list every broken rule of a file")
        check.add_argument("file", help="path of the manifest")
        check.add_argument("--strict", action="store_true", help="fail on warnings as well")
        check.add_argument(
            "--language", choices=[code for code, _name in settings.LANGUAGES], help="of messages"
        )
        declare = parts.add_parser("declare", help="take the file's usage metrics over for an app")
        declare.add_argument("file", help="path of the manifest")
        declare.add_argument("--app", required=True, help="code of the app")
        declare.add_argument("--dry-run", action="store_true", help="tell what would change")
        for part in (check, declare):
            part.add_argument("--json", action="store_true", help="print one JSON document")
        parts.add_parser("schema", help="print the JSON Schema")

    def handle(self, *args: Any, subcommand: str, **options: Any) -> None:
        if subcommand == "schema":
            self.stdout.write(json.dumps(SCHEMA, indent=2, ensure_ascii=False))
        elif subcommand == "check":
            with translation.override(options["language"] or translation.get_language()):
                self._check(options)
        else:
            self._declare(options)

    def _check(self, options: dict[str, Any]) -> None:
        manifest = _read(options["file"])
        issues = app_manifest_issues(manifest)
        warnings = [] if issues else app_manifest_warnings(manifest)
        if options["json"]:
            listed = {"issues": _listed(issues), "warnings": _listed(warnings)}
            self._print_json({"valid": not issues, **listed})
        else:
            for mark, found in (("error", issues), ("warning", warnings)):
                for issue in found:
                    self.stdout.write(f"{mark}: {issue.path or '.'}: {issue.message}")
        if issues or (options["strict"] and warnings):
            count = f"{len(issues)} errors, {len(warnings)} warnings."
            raise CommandError(count, returncode=BROKEN)
        if not options["json"]:
            self.stdout.write(f"{options['file']} is valid.")

    def _declare(self, options: dict[str, Any]) -> None:
        manifest = _read(options["file"])
        try:
            app = find_app(options["app"])
            report = declare_metrics(
                app, manifest, actor="manage.py", is_rehearsal=options["dry_run"]
            )
        except DomainError as error:
            lines = [f"{i['path']}: {i['message']}" for i in error.details.get("issues", [])]
            raise CommandError("\n".join([error.message, *lines])) from error
        changes = {"added": report.added, "changed": report.changed, "withdrawn": report.withdrawn}
        if options["json"]:
            self._print_json({**changes, "warnings": _listed(report.warnings)})
            return
        for what, codes in changes.items():
            self.stdout.write(f"{what}: {', '.join(codes) or '-'}")
        for issue in report.warnings:
            self.stdout.write(f"warning: {issue.path}: {issue.message}")

    def _print_json(self, document: Any) -> None:
        self.stdout.write(json.dumps(document, indent=2, ensure_ascii=False))


def _listed(issues: list[Issue]) -> list[dict[str, str]]:
    return [{"path": issue.path, "message": issue.message} for issue in issues]


def _read(name: str) -> Any:
    """The JSON of a file; names that stand twice are refused, since readers disagree on them."""
    try:
        with Path(name).open("rb") as file:
            content = file.read(MAX_BYTES)  # a longer file is cut and no JSON any more
        return json.loads(content, object_pairs_hook=_once, parse_constant=_no_constant)
    except (OSError, ValueError, RecursionError) as error:
        raise CommandError(f"{name} cannot be read: {error}", returncode=UNREADABLE) from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON")
