"""Write a pack as an archive."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.common.errors import DomainError
from apps.stickers import queries
from apps.stickers.exporting import as_contents, as_wastickers

FORMS = {"wastickers": as_wastickers, "contents": as_contents}
SUFFIX = {"wastickers": ".wastickers", "contents": ".zip"}


class Command(BaseCommand):
    """Export one pack; the images are those that were imported, byte for byte."""

    help = "Write a pack as a .wastickers file, or as a .zip with contents.json."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pack_key")
        parser.add_argument("--form", choices=list(FORMS), default="wastickers")
        parser.add_argument(
            "--output", type=Path, help="File to write; named by the key if omitted."
        )

    def handle(self, *args: Any, pack_key: str, form: str, **options: Any) -> None:
        try:
            pack = queries.exported_pack(pack_key)
        except DomainError as error:
            raise CommandError(error.message) from error
        if not pack.stickers:
            raise CommandError("The pack holds no stickers.")
        target = options["output"] or Path(pack_key + SUFFIX[form])
        target.write_bytes(FORMS[form](pack))
        self.stdout.write(f"{target}\t{len(pack.stickers)} stickers")
