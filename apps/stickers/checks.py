"""Whether the object storage is set up as a whole, told at the start and not by a dead picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Tags, register

HINT = "See docs/storage.md."


@register(Tags.files)
def check_object_storage(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[CheckMessage]:
    """Credentials come in pairs, and a CDN's key can be read."""
    if not settings.OBJECT_STORAGE_BUCKET:
        return []
    found: list[CheckMessage] = []
    key_id, secret = (
        settings.OBJECT_STORAGE_ACCESS_KEY_ID,
        settings.OBJECT_STORAGE_SECRET_ACCESS_KEY,
    )
    if bool(key_id) != bool(secret):
        text = "OBJECT_STORAGE_ACCESS_KEY_ID and OBJECT_STORAGE_SECRET_ACCESS_KEY belong together."
        found.append(checks.Error(text, hint=HINT, id="stickers.E001"))
    file = settings.OBJECT_STORAGE_CDN_PRIVATE_KEY_FILE
    if settings.OBJECT_STORAGE_CDN_KEY_ID and not (file and Path(file).is_file()):
        text = "OBJECT_STORAGE_CDN_PRIVATE_KEY_FILE names no file, so no address can be signed."
        found.append(checks.Error(text, hint=HINT, id="stickers.E002"))
    return found
