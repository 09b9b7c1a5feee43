"""Where sticker files lie: the one door for their bytes.

A file is written into one folder, named by its content, whole or not at all. Where the folder has
lost it, its copy in the object storage is read.
"""

import os
import re
import tempfile
from pathlib import Path

from django.conf import settings

from apps.stickers import errors, object_storage
from apps.stickers.choices import ObjectState
from apps.stickers.models import StickerAsset, StoredObject

S3_PREFIX = "s3://"
OWNER_TOKEN_LENGTH = 100


def asset_path(sha256: str) -> str:
    """The place of a sticker below MEDIA_ROOT."""
    return f"stickers/{sha256[:2]}/{sha256}.webp"


def object_key(sha256: str) -> str:
    """The key of a sticker in the object storage: by its content, so one for all who show it."""
    return f"{settings.OBJECT_STORAGE_KEY_PREFIX}/{sha256[:2]}/{sha256}.webp"


def adoptable_keys(asset: StickerAsset) -> list[str]:
    """Where the original may have stored the sticker."""
    token = re.sub(r"[^A-Za-z0-9._-]", "_", asset.owner_jid)[:OWNER_TOKEN_LENGTH] or "unknown"
    keys = [f"{settings.OBJECT_STORAGE_KEY_PREFIX}/{token}/{asset.sha256}.webp"]
    own = f"{S3_PREFIX}{settings.OBJECT_STORAGE_BUCKET}/"
    if asset.storage_path.startswith(own):
        keys.insert(0, asset.storage_path.removeprefix(own))
    return keys


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


def remove_local_file(sha256: str) -> None:
    """Remove a file from the folder; harmless to repeat."""
    (Path(settings.MEDIA_ROOT) / asset_path(sha256)).unlink(missing_ok=True)


def local_file(asset: StickerAsset) -> Path:
    """The file of a sticker. Raises StickerFileMissing when it is gone or lies elsewhere."""
    root = Path(settings.MEDIA_ROOT).resolve()
    file = (root / asset.storage_path).resolve()
    if not file.is_relative_to(root) or not file.is_file():
        raise errors.StickerFileMissing(asset.sha256)
    return file


def read_asset(asset: StickerAsset) -> bytes:
    """The bytes of a sticker, from the folder or else from the object storage.

    Raises StickerFileMissing, ObjectStorageUnavailable.
    """
    try:
        return local_file(asset).read_bytes()
    except errors.StickerFileMissing:
        if not object_storage.is_configured():
            raise
        return _read_object(asset)


def _read_object(asset: StickerAsset) -> bytes:
    stored = StoredObject.objects.filter(sha256=asset.sha256, state=ObjectState.STORED).first()
    keys = [stored.object_key] if stored else adoptable_keys(asset)
    for key in keys:
        try:
            return object_storage.get(key)
        except errors.ObjectMissing:
            continue
    raise errors.StickerFileMissing(asset.sha256)
