"""Flags that code asks for but the table does not know."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Tags, register
from django.core.checks import Warning as CheckWarning
from django.db import DatabaseError

from apps.flags.models import FeatureFlag

_USE = re.compile(
    r"""(?:is_enabled|is_enabled_for|flag_required|evaluate)\([^"')]*["']([a-z0-9_:-]+)["']"""
    r"""|\{%\s*flag\s+["']([a-z0-9_:-]+)["']"""
)


@register(Tags.database)
def check_flags_in_code(
    app_configs: Sequence[AppConfig] | None, databases: Sequence[str] | None, **kwargs: Any
) -> list[CheckMessage]:
    """Warn for each flag that code names and the table lacks; only when databases are checked."""
    if not databases:
        return []
    try:
        known = set(FeatureFlag.objects.values_list("flag_name", flat=True))
    except DatabaseError:
        return []
    hint = "Create it with `manage.py flags set NAME`, or remove it from the code."
    return [
        CheckWarning(f"The flag {name!r} is used in {place} but is not in the table.", hint=hint,
                     id="flags.W001")
        for name, place in flags_in_code()
        if name not in known
    ]  # fmt: skip


def flags_in_code() -> Iterator[tuple[str, str]]:
    """The flags named by our own Python files and templates, and where."""
    root = Path(settings.BASE_DIR)
    for folder, pattern in (("apps", "*.py"), ("config", "*.py"), ("templates", "*.html")):
        for file in sorted((root / folder).rglob(pattern)):
            for match in _USE.finditer(file.read_text()):
                yield match[1] or match[2], str(file.relative_to(root))
