"""Write docs/settings.md from the declared settings, or check that it is up to date."""

from argparse import ArgumentParser
from itertools import groupby
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from apps.common.env import REGISTRY, Setting

HEAD = """# Settings

Every setting is an environment variable; a `.env` file beside `manage.py` is read too, and the
environment wins. A name may carry the prefix `DJANGO_`. A wrong value stops the start and says why.
Written by `make docs` from the settings themselves.
"""


class Command(BaseCommand):
    """Keep the documentation of settings equal to the settings."""

    help = "Write docs/settings.md from the declared settings (--check only compares)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true", help="Fail if the page is out of date.")

    def handle(self, *args: Any, check: bool, **options: Any) -> None:
        page = Path(settings.BASE_DIR) / "docs" / "settings.md"
        text = render()
        if not check:
            page.write_text(text)
        elif not page.exists() or page.read_text() != text:
            raise CommandError("docs/settings.md is out of date; run make docs.")


def render() -> str:
    """The whole page, a table for each section."""
    parts = [HEAD]
    for title, rows in groupby(REGISTRY.values(), key=lambda setting: setting.section):
        parts.append(f"\n## {title}\n| setting | type | default | allowed | what it does |")
        parts.append("|---|---|---|---|---|")
        parts.extend(_line(setting) for setting in rows)
    return "\n".join(parts) + "\n"


def _line(setting: Setting) -> str:
    base = str(settings.BASE_DIR)
    default = "secret" if setting.is_secret else setting.default.replace(base, ".")
    shown = f"`{default}`" if default else ""
    return f"| `{setting.name}` | {setting.kind} | {shown} | {setting.bounds} | {setting.help} |"
