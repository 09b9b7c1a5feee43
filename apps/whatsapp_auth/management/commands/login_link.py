"""Make or call back login links."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from apps.common.errors import DomainError
from apps.whatsapp_auth.services import links

ACTOR = "command line"


class Command(BaseCommand):
    """Print a login link for a phone, or void those that are open."""

    help = "Print a login link for a phone number, or revoke all of its open links."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("phone", help="Digits with country code, or a phone address.")
        parser.add_argument("--revoke", action="store_true", help="Void the open links instead.")

    def handle(self, *args: Any, phone: str, revoke: bool, **options: Any) -> None:
        now = timezone.now()
        try:
            if revoke:
                links.revoke_links(phone, actor=ACTOR, now=now)
            else:
                self.stdout.write(links.issue_link(phone, actor=ACTOR, now=now).url)
        except DomainError as error:
            raise CommandError(error.message) from error
