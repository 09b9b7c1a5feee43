"""Flags on the command line."""

import dataclasses
import getpass
import json
from argparse import ArgumentParser
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from apps.common.errors import DomainError
from apps.flags import queries, services
from apps.flags.checks import flags_in_code
from apps.flags.models import FeatureFlag, FlagRule
from apps.flags.services.changing import RULE_FIELDS


class Command(BaseCommand):
    """Look at flags, change them, carry them from one installation to another."""

    help = "list, show, set, check, export, import or stale; each with --json."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        for name, text in {
            "list": "All flags.",
            "show": "One flag with its rule, and its answer for a subject.",
            "set": "Create or change a flag.",
            "check": "Flags that code names but the table lacks; exit code 1 if there are any.",
            "export": "All flags and rules as JSON.",
            "import": "Set the flags of an export; others stay.",
            "stale": "Flags that could be removed.",
        }.items():
            action = actions.add_parser(name, help=text)
            action.add_argument("--json", action="store_true", dest="as_json")
            self._add_options(name, action)

    def _add_options(self, name: str, action: ArgumentParser) -> None:
        if name in {"show", "set"}:
            action.add_argument("flag_name")
        if name == "show":
            action.add_argument("--subject", default="")
        if name == "set":
            switch = action.add_mutually_exclusive_group()
            switch.add_argument("--on", action="store_const", const=True, dest="is_enabled")
            switch.add_argument("--off", action="store_const", const=False, dest="is_enabled")
            action.add_argument("--percent", type=int, dest="rollout_percent")
            action.add_argument("--description")
            action.add_argument("--reason", default="")
        if name in {"set", "import"}:
            action.add_argument("--dry-run", action="store_true")
        if name == "import":
            action.add_argument("file", type=Path)
        if name == "stale":
            action.add_argument("--days", type=int, default=30)

    def handle(self, *args: Any, action: str, as_json: bool, **options: Any) -> None:
        try:
            rows = getattr(self, f"_{action}")(**options)
        except DomainError as error:
            raise CommandError(error.message) from error
        if as_json or action == "export":
            self.stdout.write(json.dumps(rows, default=str, ensure_ascii=False, indent=2))
        else:
            for row in rows if isinstance(rows, list) else [rows]:
                self.stdout.write("\t".join(str(value) for value in row.values()))
        if action == "check" and rows:
            raise CommandError(f"{len(rows)} flags are used but not in the table.")

    def _list(self, **options: Any) -> list[dict[str, Any]]:
        return [_row(flag) for flag in FeatureFlag.objects.order_by("flag_name")]

    def _show(self, *, flag_name: str, subject: str, **options: Any) -> dict[str, Any]:
        flag = FeatureFlag.objects.filter(flag_name=flag_name).first()
        if flag is None:
            raise CommandError(f"There is no flag {flag_name}.")
        services.refresh(force=True)
        found = services.evaluate(flag_name, subject_key=subject)
        answer = {"value": found.value, "reason": str(found.reason), "bucket": found.bucket}
        return {**_row(flag), **answer, "rule": _rule(flag_name)}

    def _set(self, *, flag_name: str, dry_run: bool, **options: Any) -> dict[str, Any]:
        wanted = ("is_enabled", "rollout_percent", "description", "reason")
        values = {name: options[name] for name in wanted}
        if dry_run:
            return {"flag_name": flag_name, **values}
        return _row(services.set_flag(flag_name, actor=_actor(), **values))

    def _check(self, **options: Any) -> list[dict[str, Any]]:
        known = set(FeatureFlag.objects.values_list("flag_name", flat=True))
        used = [(name, place) for name, place in flags_in_code() if name not in known]
        return [{"flag_name": name, "place": place} for name, place in used]

    def _export(self, **options: Any) -> list[dict[str, Any]]:
        flags = FeatureFlag.objects.order_by("flag_name")
        return [{**_row(flag), "rule": _rule(flag.flag_name)} for flag in flags]

    @transaction.atomic
    def _import(self, *, file: Path, dry_run: bool, **options: Any) -> list[dict[str, Any]]:
        try:
            rows = json.loads(file.read_text())
            changed = [self._import_one(row) for row in rows]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CommandError(f"{file} is no export of flags: {error}") from error
        if dry_run:
            transaction.set_rollback(True)
        return changed

    def _import_one(self, row: dict[str, Any]) -> dict[str, Any]:
        reason = "imported"
        flag = services.set_flag(
            row["flag_name"],
            actor=_actor(),
            reason=reason,
            is_enabled=row["is_enabled"],
            rollout_percent=row["rollout_percent"],
            description=row["description"],
        )
        if row.get("rule"):
            services.set_rule(row["flag_name"], actor=_actor(), reason=reason, **row["rule"])
        return _row(flag)

    def _stale(self, *, days: int, **options: Any) -> list[dict[str, Any]]:
        rows = queries.stale_flags(now=timezone.now(), unchanged_for=timedelta(days=days))
        return [dataclasses.asdict(row) for row in rows]


def _row(flag: FeatureFlag) -> dict[str, Any]:
    return {
        "flag_name": flag.flag_name,
        "is_enabled": flag.is_enabled,
        "rollout_percent": flag.rollout_percent,
        "description": flag.description,
    }


def _rule(flag_name: str) -> dict[str, Any] | None:
    rule = FlagRule.objects.filter(flag_name=flag_name).first()
    if rule is None:
        return None
    values = {name: getattr(rule, name) for name in RULE_FIELDS}
    return values | {"expires_on": rule.expires_on.isoformat() if rule.expires_on else None}


def _actor() -> str:
    return f"shell:{getpass.getuser()}"
