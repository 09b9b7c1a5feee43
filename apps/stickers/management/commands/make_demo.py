"""Draw the demo catalogue and import it."""

from typing import Any

from django.core.management.base import BaseCommand

from apps.stickers.demo import demo_packs
from apps.stickers.services.importing import import_pack

OWNER = "demo@pombo"


class Command(BaseCommand):
    """Fill an empty catalogue with packs to look at; a second call changes nothing."""

    help = "Draw a few small packs and import them."

    def handle(self, *args: Any, **options: Any) -> None:
        reports = [import_pack(source, owner_jid=OWNER) for source in demo_packs()]
        new = sum(report.is_new for report in reports)
        self.stdout.write(f"{new} demo packs drawn, {len(reports) - new} already there")
