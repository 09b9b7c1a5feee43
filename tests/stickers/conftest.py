"""Sticker files of a test lie in its own folder."""

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _own_media(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
