"""Where sticker files lie: in one folder, named by their content, written whole or not at all."""

import os
import tempfile
from pathlib import Path

from django.conf import settings

from apps.stickers import errors
from apps.stickers.models import StickerAsset


def asset_path(sha256: str) -> str:
    """The place of a sticker below MEDIA_ROOT."""
    return f"stickers/{sha256[:2]}/{sha256}.webp"


def write_asset(sha256: str, data: bytes) -> str:
    """Store a file unless it is there already, and return its place below MEDIA_ROOT.

    Written beside its place and moved there, so that a reader never sees half of it.
    """
    place = asset_path(sha256)
    target = Path(settings.MEDIA_ROOT) / place
    if target.exists() and target.stat().st_size == len(data):
        return place
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=target.parent)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    Path(temporary).chmod(0o644)
    Path(temporary).replace(target)
    return place


def local_file(asset: StickerAsset) -> Path:
    """The file of a sticker. Raises StickerFileMissing when it is gone or lies elsewhere."""
    root = Path(settings.MEDIA_ROOT).resolve()
    file = (root / asset.storage_path).resolve()
    if not file.is_relative_to(root) or not file.is_file():
        raise errors.StickerFileMissing(asset.sha256)
    return file


def read_asset(asset: StickerAsset) -> bytes:
    """The bytes of a sticker. Raises StickerFileMissing."""
    return local_file(asset).read_bytes()
