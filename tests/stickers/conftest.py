"""Sticker files of a test lie in its own folder."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.stickers.models import StickerPackItem


@pytest.fixture(autouse=True)
def _own_media(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def flushable(transactional_db: None) -> Iterator[None]:
    """For tests that commit: a flush deletes in any order, and RESTRICT stops it at items."""
    yield
    StickerPackItem.objects.all().delete()
