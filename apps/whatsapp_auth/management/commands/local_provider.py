"""Run an OpenID provider for development."""

import threading
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from apps.whatsapp_auth.local_provider import LocalAccount, LocalProvider


class Command(BaseCommand):
    """Serve accounts that anybody may choose; refuses to run without DEBUG."""

    help = "Run a local OpenID provider, to try sign-in without a Google client (DEBUG only)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8765)
        parser.add_argument(
            "--account", action="append", metavar="EMAIL", help="An account that can be chosen."
        )

    def handle(self, *args: Any, port: int, account: list[str] | None, **options: Any) -> None:
        if not settings.DEBUG:
            raise CommandError("The local provider lets anybody in; it needs DEBUG=true.")
        emails = account or ["ana@example.com", "rui@example.com"]
        accounts = [
            LocalAccount(sub=str(1001 + number), email=email, name=email.partition("@")[0].title())
            for number, email in enumerate(emails)
        ]
        provider = LocalProvider(
            accounts, client_id=settings.GOOGLE_CLIENT_ID or "local", port=port
        )
        provider.start()
        self.stdout.write(f"GOOGLE_ISSUER={provider.issuer}\nGOOGLE_CLIENT_ID={provider.client_id}")
        try:
            threading.Event().wait()
        finally:
            provider.stop()
