"""Make the runner's table of periodic work equal to config/schedules.py."""

from typing import Any

from django.core.management.base import BaseCommand

from config.schedules import sync_schedules


class Command(BaseCommand):
    """Synchronise periodic work; harmless to repeat."""

    help = "Create, mend and remove schedules until they equal config/schedules.py."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{sync_schedules()} schedules changed")
