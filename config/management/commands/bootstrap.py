"""Make an empty or older installation ready: tables, schedules, an administrator, a demo."""

import secrets
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import BaseCommand

from config.schedules import start_residents, sync_schedules


class Command(BaseCommand):
    """What `make run` does before it starts the processes; every step is harmless to repeat."""

    help = "Migrate, sync schedules, create an administrator and draw the demo catalogue."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--no-demo", action="store_true", help="Draw no demo catalogue.")

    def handle(self, *args: Any, no_demo: bool, **options: Any) -> None:
        call_command("migrate", verbosity=0, interactive=False)
        sync_schedules()
        start_residents()
        self._create_administrator()
        if not no_demo:
            call_command("make_demo", stdout=self.stdout)

    def _create_administrator(self) -> None:
        if User.objects.filter(is_superuser=True).exists():
            return
        password = secrets.token_urlsafe(12)
        User.objects.create_superuser("admin", "admin@localhost", password)
        self.stdout.write(self.style.SUCCESS("Administrator created; shown only this once:"))
        self.stdout.write(f"  user      admin\n  password  {password}")
