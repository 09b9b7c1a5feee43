"""Shared files as a Django storage, for FileFields and for `storages["shared"]`."""

import io
from datetime import datetime

from django.core.files import File
from django.core.files.base import ContentFile
from django.core.files.storage import Storage
from django.urls import reverse
from django.utils.deconstruct import deconstructible

from apps.delivery import mongodb
from apps.delivery.errors import SharedFileNotFound
from apps.delivery.files.store import FileStore, SharedFile, Upload
from apps.delivery.services import shared_files

_UNSIZED = "A file without a size cannot be stored."


@deconstructible
class GridFSStorage(Storage):
    """The files of one app code; a name means its newest version, and a save never overwrites."""

    def __init__(self, app: str = "pombo") -> None:
        self.app = app

    def exists(self, name: str) -> bool:
        """Whether any version has this name."""
        try:
            self._latest(name)
        except SharedFileNotFound:
            return False
        return True

    def size(self, name: str) -> int:
        """Bytes. Raises SharedFileNotFound."""
        return self._latest(name).length

    def url(self, name: str | None) -> str:
        """Where the API gives the newest version. Raises SharedFileNotFound."""
        found = self._latest(name or "")
        return f"{reverse('shared-file-content', args=[found.id])}?app={self.app}"

    def get_created_time(self, name: str) -> datetime:
        """When the newest version came. Raises SharedFileNotFound."""
        return self._latest(name).uploaded_at

    get_modified_time = get_created_time

    def listdir(self, path: str) -> tuple[list[str], list[str]]:
        """Folders and files below a path."""
        prefix = f"{path.strip('/')}/" if path.strip("/") else ""
        with mongodb.answering():
            rows = self._store().rows(self.app, prefix=prefix)
            names = {row.name.removeprefix(prefix) for row in rows[0 : len(rows)]}
        folders = {name.partition("/")[0] for name in names if "/" in name}
        return sorted(folders), sorted(name for name in names if "/" not in name)

    def delete(self, name: str) -> None:
        """Delete all versions of a name; none is fine."""
        with mongodb.answering():
            rows = self._store().rows(self.app, name=name)
            for row in rows[0 : len(rows)]:
                self._store().delete(self.app, row.id)

    def _open(self, name: str, mode: str = "rb") -> File:
        with mongodb.answering():
            return File(self._store().open(self.app, self._latest(name).id), name)

    def _save(self, name: str, content: File) -> str:
        inner: object = content.file
        if isinstance(inner, io.TextIOBase):
            content = ContentFile(inner.read().encode())  # letters have no length in bytes yet
        if content.size is None:
            raise ValueError(_UNSIZED)
        content_type = getattr(content, "content_type", None) or "application/octet-stream"
        wish = Upload(self.app, name, content.size, content_type=content_type)
        return shared_files.upload(wish, content.chunks()).name

    def _latest(self, name: str) -> SharedFile:
        with mongodb.answering():
            return self._store().latest(self.app, name)

    def _store(self) -> FileStore:
        return shared_files.shared_store()
