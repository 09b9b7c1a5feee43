"""Show or erase what is kept about one person."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.common.errors import DomainError
from apps.whatsapp_auth.services import personal_data

ACTOR = "command line"


class Command(BaseCommand):
    """Answer a request for access or erasure (LGPD); both are audited."""

    help = "Export or erase a person's data: by Google id, e-mail, phone or WhatsApp address."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        export = actions.add_parser("export", help="Print everything as JSON.")
        export.add_argument("who")
        erase = actions.add_parser("erase", help="Tell what would be erased; --yes erases it.")
        erase.add_argument("who")
        erase.add_argument("--yes", action="store_true", dest="is_confirmed")

    def handle(self, *args: Any, action: str, who: str, **options: Any) -> None:
        try:
            whose = personal_data.identify(who)
        except DomainError as error:
            raise CommandError(error.message) from error
        if action == "export":
            data = personal_data.export_person(whose, actor=ACTOR, now=timezone.now())
            self.stdout.write(json.dumps(data, indent=2, ensure_ascii=False, default=str))
        else:
            self._erase(whose, is_confirmed=options["is_confirmed"])

    def _erase(self, whose: personal_data.Whose, *, is_confirmed: bool) -> None:
        if is_confirmed:
            counts = personal_data.erase_person(whose, actor=ACTOR, now=timezone.now())
        else:
            counts = personal_data.count_person(whose)
            self.stderr.write("Nothing was erased; add --yes to do it.")
        for table, count in counts.items():
            self.stdout.write(f"{table}\t{count}")
