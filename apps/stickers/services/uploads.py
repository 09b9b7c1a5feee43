"""Uploads into packs: announced, received in parts, turned into stickers one by one.

An upload is named by its `upload_id` and by the SHA-256 of its source; announcing it again resumes
it, and what is done stays done. Nothing here changes the state of another upload, and a failed one
leaves the pack as it is. The work itself runs in the workers (`process_upload`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import F

from apps.common.fields import now_seconds
from apps.outbox.services import publish
from apps.stickers import errors, texts, upload_files
from apps.stickers.choices import PackStatus, UploadStatus
from apps.stickers.conversion import MAX_SOURCE_BYTES
from apps.stickers.models import PackWebUpload, StickerPack, UploadSource
from apps.stickers.services.packs import check_room, lock_pack, publish_status

OPEN_STATUSES = (UploadStatus.PENDING, UploadStatus.PROCESSING)
RECEIVED = "STICKER_UPLOAD_RECEIVED"
_UPLOAD_ID = re.compile(r"[A-Za-z0-9._:-]{1,120}", re.ASCII)
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Announcement:
    """What an author says of a file before sending it."""

    sha256: str
    size_bytes: int
    upload_id: str = ""
    mimetype: str = ""
    emojis: Sequence[str] = ()
    label: str = ""
    becomes_cover: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """An upload and how much of its source is here; `is_new` where it was announced just now."""

    upload: PackWebUpload
    received_bytes: int
    is_new: bool = False


@transaction.atomic
def start_upload(pack_key: str, file: Announcement, *, owner_jid: str | None) -> Progress:
    """Announce a file, or resume it; a failed one may be sent again.

    Raises PackNotFound, NotPackOwner, InvalidUpload, UploadIdTaken, FileTooLarge, WrongEmojiCount,
    PackFull.
    """
    _check(file)
    pack = lock_pack(pack_key, owner_jid=owner_jid)
    upload_id = file.upload_id or f"h-{file.sha256[:24]}"
    found = _find(pack, upload_id, file.sha256)
    if found is not None:
        return _resumed(found)
    check_room(pack, more=pack.uploads.filter(upload_status__in=OPEN_STATUSES).count())
    upload = pack.uploads.create(
        upload_id=upload_id, sticker_hash=file.sha256, source_mimetype=file.mimetype or None
    )
    UploadSource.objects.create(
        upload=upload,
        size_bytes=file.size_bytes,
        emojis=list(file.emojis),
        accessibility_label=texts.clean_text(file.label, limit=texts.ANIMATED_LABEL_LIMIT),
        becomes_cover=file.becomes_cover,
    )
    if pack.status in {PackStatus.DRAFT, PackStatus.FAILED}:
        publish_status(pack, PackStatus.UPLOADING)
    return Progress(upload, 0, is_new=True)


@transaction.atomic
def append_part(
    pack_key: str, upload_id: str, data: bytes, *, offset: int, owner_jid: str | None
) -> Progress:
    """Take the next bytes of a source; with the last one it is handed to the workers.

    Raises UploadNotFound, WrongOffset (which tells where to go on), InvalidUpload.
    """
    upload = lock_upload(pack_key, upload_id, owner_jid=owner_jid)
    received = upload_files.received_bytes(upload.pk)
    if upload.upload_status != UploadStatus.PENDING:
        return Progress(upload, received)
    if offset != received:
        raise errors.WrongOffset(received)
    if received + len(data) > upload.source.size_bytes:
        raise errors.InvalidUpload("More bytes came than were announced.", field="size_bytes")
    received = upload_files.append(upload.pk, data) if data else received
    if received == upload.source.size_bytes:
        _complete(upload)
    return Progress(upload, received)


@transaction.atomic
def discard_upload(pack_key: str, upload_id: str, *, owner_jid: str | None) -> None:
    """Forget an upload that is not in work; a sticker that came of it stays.

    Raises UploadNotFound, UploadInWork.
    """
    upload = lock_upload(pack_key, upload_id, owner_jid=owner_jid)
    if upload.upload_status == UploadStatus.PROCESSING:
        raise errors.UploadInWork
    upload_files.remove(upload.pk)
    upload.delete()


def lock_upload(pack_key: str, upload_id: str, *, owner_jid: str | None) -> PackWebUpload:
    """An upload of an own pack, both rows locked, the pack first. Raises UploadNotFound."""
    pack = lock_pack(pack_key, owner_jid=owner_jid)
    upload = pack.uploads.select_for_update().filter(upload_id=upload_id).first()
    if upload is None or not hasattr(upload, "source"):
        raise errors.UploadNotFound(upload_id)
    return upload


def hand_over(upload: PackWebUpload) -> None:
    """Tell the workers that a source is whole."""
    payload = {"upload": upload.pk, "pack_id": upload.pack_id}
    publish(RECEIVED, "sticker_pack_web_upload", upload.pk, payload, priority=80)


def fail(upload: PackWebUpload, code: str, message: str) -> None:
    """Write why an upload failed; its pack and its neighbours are not touched."""
    PackWebUpload.objects.filter(pk=upload.pk).update(
        upload_status=UploadStatus.FAILED,
        error_code=code[:64],
        error_message=message[:255],
        updated_at=now_seconds(),
    )
    upload.refresh_from_db()
    transaction.on_commit(lambda: upload_files.remove(upload.pk))


def _check(file: Announcement) -> None:
    if file.upload_id and not _UPLOAD_ID.fullmatch(file.upload_id):
        raise errors.InvalidUpload("An upload id has 1 to 120 plain characters.", field="upload_id")
    if not _SHA256.fullmatch(file.sha256):
        raise errors.InvalidUpload("The SHA-256 has 64 lower-case hex digits.", field="sha256")
    if file.size_bytes < 1:
        raise errors.InvalidUpload("The file is empty.", field="size_bytes")
    if file.size_bytes > MAX_SOURCE_BYTES:
        raise errors.FileTooLarge(file.size_bytes, limit=MAX_SOURCE_BYTES)
    if file.emojis:
        texts.check_emojis(file.emojis)


def _find(pack: StickerPack, upload_id: str, sha256: str) -> PackWebUpload | None:
    """The upload with this id, else the one of the same source. Raises UploadIdTaken."""
    uploads = pack.uploads.select_for_update()
    named = uploads.filter(upload_id=upload_id).first()
    if named is not None and named.sticker_hash != sha256:
        raise errors.UploadIdTaken(upload_id)
    return named or uploads.filter(sticker_hash=sha256).first()


def _resumed(upload: PackWebUpload) -> Progress:
    """Where an upload stands; a failed one, or one whose sticker is gone, starts anew."""
    is_lost = upload.upload_status == UploadStatus.DONE and not _shows(upload)
    if upload.upload_status == UploadStatus.FAILED or is_lost:
        upload_files.remove(upload.pk)
        PackWebUpload.objects.filter(pk=upload.pk).update(
            upload_status=UploadStatus.PENDING,
            sticker=None,
            error_code=None,
            error_message=None,
            updated_at=now_seconds(),
        )
        upload.refresh_from_db()
    return Progress(upload, upload_files.received_bytes(upload.pk))


def _shows(upload: PackWebUpload) -> bool:
    """Whether the pack still holds the sticker of a finished upload."""
    return upload.pack.items.filter(sticker_id=upload.sticker_id).exists()


def _complete(upload: PackWebUpload) -> None:
    if upload_files.sha256_of(upload.pk) != upload.sticker_hash:
        fail(upload, "hash_mismatch", "The file differs from the one that was announced.")
        return
    PackWebUpload.objects.filter(pk=upload.pk).update(updated_at=now_seconds())
    hand_over(upload)


def claim_upload(upload_pk: str, *, now: datetime) -> PackWebUpload | None:
    """Take a pending upload into work; None where another worker has it or nothing is left to do.

    The count of attempts is the fencing token: who lost the upload meanwhile writes nothing.
    """
    taken = PackWebUpload.objects.filter(pk=upload_pk, upload_status=UploadStatus.PENDING).update(
        upload_status=UploadStatus.PROCESSING,
        attempt_count=F("attempt_count") + 1,
        last_attempt_at=now,
        updated_at=now_seconds(),
    )
    if not taken:
        return None
    return PackWebUpload.objects.select_related("pack", "source").get(pk=upload_pk)
