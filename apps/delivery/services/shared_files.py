"""Files that all replicas of an app share."""

import functools
import os
import re
from collections.abc import Iterable

from django.conf import settings

from apps.delivery import mongodb
from apps.delivery.errors import InvalidSharedFile
from apps.delivery.files.names import checked_name
from apps.delivery.files.store import FileStore, SharedFile, Upload

_SHA256 = re.compile(r"[0-9a-fA-F]{64}")


def shared_store() -> FileStore:
    """The bucket in Pombo's MongoDB. Raises MongodbNotConfigured."""
    mongodb.shared_database()
    return _store(settings.MONGODB_URI, os.getpid())


def upload(wish: Upload, pieces: Iterable[bytes]) -> SharedFile:
    """Store a new version of a file.

    Raises InvalidSharedFile, SharedFileCut, SharedFileQuotaReached, MongodbNotConfigured,
    MongodbUnreachable; then nothing is stored.
    """
    checked_name(wish.name)
    if not 0 <= wish.length <= settings.SHARED_FILES_MAX_BYTES:
        raise InvalidSharedFile(
            "The file is too large.", details={"max_bytes": settings.SHARED_FILES_MAX_BYTES}
        )
    if wish.sha256 and not _SHA256.fullmatch(wish.sha256):
        raise InvalidSharedFile("A SHA-256 has 64 hex digits.", details={"field": "sha256"})
    with mongodb.answering():
        return shared_store().upload(
            wish,
            pieces,
            quota_bytes=settings.SHARED_FILES_QUOTA_BYTES,
            max_seconds=settings.SHARED_FILES_UPLOAD_SECONDS,
        )


def delete(app: str, file_id: str) -> None:
    """Delete one version. Raises SharedFileNotFound and what `upload` raises of MongoDB."""
    with mongodb.answering():
        shared_store().delete(app, file_id)


def sweep() -> int:
    """Delete what interrupted uploads and deletes left behind; how many chunks."""
    with mongodb.answering():
        # Twice as old as the longest upload, so that clocks may differ.
        return shared_store().sweep(older_than_seconds=2 * settings.SHARED_FILES_UPLOAD_SECONDS)


@functools.lru_cache(maxsize=4)
def _store(_uri: str, _pid: int) -> FileStore:
    store = FileStore(mongodb.shared_database())
    store.ensure_indexes()
    return store


def forget_stores() -> None:
    """Make the store anew at the next question; tests clean up with it."""
    _store.cache_clear()
