"""Sources of uploads while they arrive: one file for each upload, and its length is the truth."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

FOLDER = "uploads"
SUFFIX = ".part"


def received_bytes(upload_pk: str) -> int:
    """How much of a source is here."""
    path = _path(upload_pk)
    return path.stat().st_size if path.exists() else 0


def append(upload_pk: str, data: bytes) -> int:
    """Put bytes at the end, on the disk before it returns; the new length."""
    path = _path(upload_pk)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
        return file.tell()


def read(upload_pk: str) -> bytes:
    """The whole source; nothing when it is gone."""
    path = _path(upload_pk)
    return path.read_bytes() if path.exists() else b""


def sha256_of(upload_pk: str) -> str:
    """The digest of what is here."""
    return hashlib.sha256(read(upload_pk)).hexdigest()


def remove(upload_pk: str) -> None:
    """Forget a source; harmless to repeat."""
    _path(upload_pk).unlink(missing_ok=True)


def all_uploads() -> Iterator[str]:
    """The uploads that have a file here."""
    return (path.stem for path in (Path(settings.MEDIA_ROOT) / FOLDER).glob(f"*{SUFFIX}"))


def _path(upload_pk: str) -> Path:
    return Path(settings.MEDIA_ROOT) / FOLDER / f"{upload_pk}{SUFFIX}"
