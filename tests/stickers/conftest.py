"""Sticker files of a test lie in its own folder; its rows can be flushed in any order."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.stickers.models import StickerPackItem


@pytest.fixture(autouse=True)
def _own_media(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture(autouse=True)
def _flushable(request: pytest.FixtureRequest) -> Iterator[None]:
    """SQLite keeps RESTRICT at once, and Django empties the tables in an order that varies."""
    marker = request.node.get_closest_marker("django_db")
    is_flushed = bool(marker and marker.kwargs.get("transaction"))
    if is_flushed:
        request.getfixturevalue("transactional_db")
    yield
    if is_flushed:
        StickerPackItem.objects.all().delete()
