"""Shared files on GridFS: one bucket for all apps, a new id for each version."""

import hashlib
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bson import ObjectId
from bson.errors import InvalidId
from gridfs import GridFSBucket, GridIn, GridOut
from gridfs.errors import CorruptGridFile, NoFile
from pymongo.database import Database

from apps.delivery.errors import (
    SharedFileCut,
    SharedFileDamaged,
    SharedFileNotFound,
    SharedFileQuotaReached,
)
from apps.delivery.files.names import ByteRange

BUCKET = "pombo_files"
FILES, CHUNKS, UPLOADS = f"{BUCKET}.files", f"{BUCKET}.chunks", f"{BUCKET}.uploads"
PIECE_BYTES = 255 * 1024
_SWEEP_BATCH = 500


@dataclass(frozen=True, slots=True)
class Upload:
    """What a caller says about a file that it is about to send."""

    app: str
    name: str
    length: int
    sha256: str = ""
    content_type: str = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class SharedFile:
    """One version of a file."""

    id: str
    app: str
    name: str
    length: int
    sha256: str
    content_type: str
    uploaded_at: datetime


class FileStore:
    """The bucket in one database."""

    def __init__(self, database: Database[dict[str, Any]]) -> None:
        self._files = database[FILES]
        self._chunks = database[CHUNKS]
        self._uploads = database[UPLOADS]
        self._bucket = GridFSBucket(database, BUCKET)

    def ensure_indexes(self) -> None:
        """Make what is missing; without the unique one, racing writers could mix their chunks."""
        self._chunks.create_index([("files_id", 1), ("n", 1)], unique=True)
        self._files.create_index([("filename", 1), ("uploadDate", 1)])
        self._files.create_index([("metadata.app", 1), ("filename", 1), ("_id", 1)])
        self._uploads.create_index([("app", 1)])

    def upload(
        self, wish: Upload, pieces: Iterable[bytes], *, quota_bytes: int, max_seconds: float
    ) -> SharedFile:
        """Store a new version. Raises SharedFileCut, SharedFileQuotaReached; then nothing is left.

        Room is taken before the first byte, so that uploads at once cannot pass the quota together.
        """
        file_id = ObjectId()
        self._reserve(file_id, wish, quota_bytes)
        try:
            with self._bucket.open_upload_stream_with_id(file_id, wish.name) as stream:
                # The block aborts on an error, which deletes the chunks written so far.
                digest = _copy(pieces, stream, wish, until=time.monotonic() + max_seconds)
                stream.metadata = {
                    "app": wish.app,
                    "sha256": digest,
                    "contentType": wish.content_type,
                }
        finally:
            self._uploads.delete_one({"_id": file_id})
        return self.find(wish.app, str(file_id))

    def find(self, app: str, file_id: str) -> SharedFile:
        """A version by its id. Raises SharedFileNotFound, also for a file of another app."""
        return _shared(self._document(app, file_id))

    def latest(self, app: str, name: str) -> SharedFile:
        """The newest version of a name. Raises SharedFileNotFound."""
        wanted = {"metadata.app": app, "filename": name}
        found = self._files.find_one(wanted, sort=[("_id", -1)])
        if found is None:
            raise SharedFileNotFound("There is no such file.")
        return _shared(found)

    def open(self, app: str, file_id: str) -> GridOut:
        """A seekable stream. Raises SharedFileNotFound."""
        return self._bucket.open_download_stream(self._document(app, file_id)["_id"])

    def read(self, file: SharedFile, wanted: ByteRange | None = None) -> Iterator[bytes]:
        """The bytes of a file or of a range of it.

        The checksum of a whole file is compared before its last piece goes out, so that a damaged
        one never arrives complete. Raises SharedFileDamaged.
        """
        span = wanted or ByteRange(0, file.length - 1)
        digest, left, held = hashlib.sha256(), span.length, b""
        try:
            with self.open(file.app, file.id) as stream:
                stream.seek(span.first)
                while left > 0 and (piece := stream.read(min(left, PIECE_BYTES))):
                    left -= len(piece)
                    digest.update(piece)
                    if held:
                        yield held
                    held = piece
        except CorruptGridFile as error:
            raise SharedFileDamaged("A part of the file is missing.") from error
        if left or (wanted is None and digest.hexdigest() != file.sha256):
            raise SharedFileDamaged("The file is not what was uploaded.")
        yield held

    def delete(self, app: str, file_id: str) -> None:
        """Delete a version with its chunks. Raises SharedFileNotFound."""
        found = self._document(app, file_id)["_id"]
        try:
            self._bucket.delete(found)
        except NoFile as error:
            raise SharedFileNotFound("There is no such file.") from error

    def used_bytes(self, app: str) -> int:
        """What the app's files take, with those that are being uploaded."""
        stored = [{"$match": {"metadata.app": app}}, _sum("$length")]
        under_way = [{"$match": {"app": app}}, _sum("$bytes")]
        rows = [*self._files.aggregate(stored), *self._uploads.aggregate(under_way)]
        return sum(int(row["bytes"]) for row in rows)

    def sweep(self, *, older_than_seconds: float) -> int:
        """Delete chunks without a file, and uploads that never ended; how many chunks.

        Only those that began longer ago than any upload may take.
        """
        cutoff = {"$subtract": ["$$NOW", round(older_than_seconds * 1000)]}
        is_old = {"$expr": {"$lt": [{"$toDate": "$_id"}, cutoff]}}
        self._uploads.delete_many(is_old)
        join = {"from": FILES, "localField": "_id", "foreignField": "_id", "as": "file"}
        owners = self._chunks.aggregate(
            [
                {"$sort": {"files_id": 1, "n": 1}},
                {"$group": {"_id": "$files_id"}},
                {"$match": is_old},
                {"$lookup": join},
                {"$match": {"file": []}},
                {"$project": {"_id": 1}},
            ],
            allowDiskUse=True,
        )
        orphans = [row["_id"] for row in owners]
        batches = (orphans[i : i + _SWEEP_BATCH] for i in range(0, len(orphans), _SWEEP_BATCH))
        return sum(
            self._chunks.delete_many({"files_id": {"$in": batch}}).deleted_count
            for batch in batches
        )

    def rows(self, app: str | None, *, name: str = "", prefix: str = "") -> "FileRows":
        """Versions of an app's files, or of all apps', newest first."""
        return FileRows(self._files, app, name=name, prefix=prefix)

    def _reserve(self, file_id: ObjectId, wish: Upload, quota_bytes: int) -> None:
        """Take room, then look whether there was any: two at once may both give up, never pass."""
        self._uploads.insert_one({"_id": file_id, "app": wish.app, "bytes": wish.length})
        used = self.used_bytes(wish.app)
        if used > quota_bytes:
            self._uploads.delete_one({"_id": file_id})
            raise SharedFileQuotaReached(
                "The app's shared files have no room for this one.",
                details={"quota_bytes": quota_bytes, "used_bytes": used - wish.length},
            )

    def _document(self, app: str, file_id: str) -> dict[str, Any]:
        try:
            wanted = {"_id": ObjectId(file_id), "metadata.app": app}
        except (InvalidId, TypeError) as error:
            raise SharedFileNotFound("There is no such file.") from error
        found = self._files.find_one(wanted)
        if found is None:
            raise SharedFileNotFound("There is no such file.")
        return found


class FileRows:
    """Files that fit a filter, newest first; read page by page."""

    def __init__(self, files: Any, app: str | None, *, name: str, prefix: str) -> None:
        self._files = files
        wanted: dict[str, Any] = {} if app is None else {"metadata.app": app}
        if name:
            wanted["filename"] = name
        elif prefix:
            wanted["filename"] = {"$gte": prefix, "$lt": f"{prefix}\U0010ffff"}
        self._filter = wanted

    def __len__(self) -> int:
        return int(self._files.count_documents(self._filter))

    def __getitem__(self, page: slice) -> list[SharedFile]:
        start = page.start or 0
        found = self._files.find(self._filter).sort("_id", -1).skip(start)
        return [_shared(row) for row in (found.limit(page.stop - start) if page.stop else found)]


def _copy(pieces: Iterable[bytes], stream: GridIn, wish: Upload, *, until: float) -> str:
    """Write what comes and return its checksum. Raises SharedFileCut."""
    digest, size = hashlib.sha256(), 0
    for piece in pieces:
        size += len(piece)
        if size > wish.length or time.monotonic() > until:
            break
        digest.update(piece)
        stream.write(piece)
    if size != wish.length:
        raise SharedFileCut("The upload is not as long as it said.", details={"bytes": size})
    if wish.sha256 and digest.hexdigest() != wish.sha256.lower():
        raise SharedFileCut("The upload does not have the checksum that it said.")
    return digest.hexdigest()


def _sum(what: str) -> dict[str, Any]:
    return {"$group": {"_id": None, "bytes": {"$sum": what}}}


def _shared(row: dict[str, Any]) -> SharedFile:
    about = row.get("metadata") or {}
    return SharedFile(
        id=str(row["_id"]),
        app=about.get("app", ""),
        name=row["filename"],
        length=row["length"],
        sha256=about.get("sha256", ""),
        content_type=about.get("contentType", ""),
        uploaded_at=row["uploadDate"],
    )
