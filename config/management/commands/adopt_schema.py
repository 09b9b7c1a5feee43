"""Take over the database of an existing OmniZap installation."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from config.adoption import AdoptionPlan, adopt, plan_adoption


class Command(BaseCommand):
    """Add what the mirrored tables lack; `migrate --fake-initial` comes after it."""

    help = (
        "Prepare an OmniZap database (MySQL or MariaDB) for `migrate --fake-initial`: add missing "
        "tables, indexes and constraints, touch no row, refuse columns that differ."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="Show the plan, change nothing.")
        parser.add_argument("--json", action="store_true", dest="as_json")

    def handle(self, *args: Any, dry_run: bool, as_json: bool, **options: Any) -> None:
        if connection.vendor != "mysql":
            raise CommandError("Only a MySQL or MariaDB database can be adopted.")
        plan = plan_adoption()
        self._show(_as_dict(plan), as_json=as_json)
        if plan.differences:
            raise CommandError("Columns differ; nothing was changed.")
        if not dry_run:
            adopt(plan)

    def _show(self, plan: dict[str, list[str]], *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(plan))
            return
        for kind, names in plan.items():
            self.stdout.write(f"{kind}\t{len(names)}\t{' '.join(names)}")


def _as_dict(plan: AdoptionPlan) -> dict[str, list[str]]:
    return {
        "missing_tables": [model._meta.db_table for model in plan.missing_tables],
        "missing_indexes": [index.name for _model, index in plan.missing_indexes],
        "missing_constraints": [item.name for _model, item in plan.missing_constraints],
        "differences": list(plan.differences),
    }
