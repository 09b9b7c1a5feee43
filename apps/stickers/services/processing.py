"""Turning received files into stickers, and bringing back those whose worker died."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from apps.common.errors import DomainError
from apps.common.fields import now_seconds
from apps.stickers import errors, upload_files
from apps.stickers.choices import UploadStatus
from apps.stickers.conversion import to_sticker
from apps.stickers.images import StickerImage
from apps.stickers.models import PackWebUpload, StickerAsset, StickerPack, UploadSource
from apps.stickers.services.packs import append_item, lock_pack, touch_pack
from apps.stickers.services.uploads import OPEN_STATUSES, claim_upload, fail, hand_over

# A picture that killed its worker so often is given up.
MAX_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class RecoveryReport:
    """What became of uploads that nobody worked on any more."""

    retried: int = 0
    given_up: int = 0


def process_upload(upload_pk: str, *, now: datetime) -> None:
    """Make a sticker of a received file and put it into its pack; harmless to repeat.

    A refusal is written to the upload. Anything else hands the upload back and is raised.
    """
    upload = claim_upload(upload_pk, now=now)
    if upload is None:
        return
    try:
        image = _image(upload)
        _add(upload, image)
    except DomainError as refusal:
        _fail_if_ours(upload, refusal)
    except Exception:
        _ours(upload).update(upload_status=UploadStatus.PENDING, updated_at=now_seconds())
        raise


@transaction.atomic
def recover_uploads(*, now: datetime) -> RecoveryReport:
    """Hand over again what was left in work or was never announced to the workers.

    Sources that stopped arriving are given up after a draft's life, so that no pack waits for them
    for ever.
    """
    before = now - timedelta(seconds=settings.STICKER_UPLOAD_STUCK_SECONDS)
    retried = given_up = 0
    for upload in _resting(before):
        is_whole = upload_files.received_bytes(upload.pk) == upload.source.size_bytes
        if upload.attempt_count >= MAX_ATTEMPTS:
            fail(upload, "attempts_used_up", "The file could not be worked on.")
            given_up += 1
        elif is_whole:
            PackWebUpload.objects.filter(pk=upload.pk).update(
                upload_status=UploadStatus.PENDING, updated_at=now_seconds()
            )
            hand_over(upload)
            retried += 1
        elif upload.upload_status == UploadStatus.PROCESSING or _is_abandoned(upload, now):
            fail(upload, "source_missing", "The file did not arrive as a whole.")
            given_up += 1
    return RecoveryReport(retried, given_up)


def remove_stray_sources() -> int:
    """Remove files whose upload is gone; tells how many."""
    files = set(upload_files.all_uploads())
    known = PackWebUpload.objects.filter(pk__in=files).values_list("pk", flat=True)
    strays = files - set(known)
    for upload_pk in strays:
        upload_files.remove(upload_pk)
    return len(strays)


def _image(upload: PackWebUpload) -> StickerImage:
    data = upload_files.read(upload.pk)
    if len(data) != upload.source.size_bytes:
        raise errors.InvalidUpload("The file did not arrive as a whole.", field="size_bytes")
    return to_sticker(data)


@transaction.atomic
def _add(upload: PackWebUpload, image: StickerImage) -> None:
    pack = lock_pack(upload.pack.pack_key, owner_jid=None)
    if not _ours(upload).select_for_update().exists():
        return  # taken back meanwhile; whoever has it now does this
    asset = _sticker(pack, upload, image)
    if upload.source.becomes_cover:
        pack.cover_sticker = asset
    touch_pack(pack)
    _ours(upload).update(
        upload_status=UploadStatus.DONE,
        sticker=asset,
        error_code=None,
        error_message=None,
        updated_at=now_seconds(),
    )
    transaction.on_commit(lambda: upload_files.remove(upload.pk))


def _sticker(pack: StickerPack, upload: PackWebUpload, image: StickerImage) -> StickerAsset:
    """The new sticker; one that the pack holds already is fine as well."""
    held = pack.items.filter(sticker__sha256=image.sha256).select_related("sticker").first()
    if held is not None:
        return held.sticker
    source = upload.source
    item = append_item(pack, image, emojis=source.emojis, label=source.accessibility_label)
    return item.sticker


@transaction.atomic
def _fail_if_ours(upload: PackWebUpload, refusal: DomainError) -> None:
    if _ours(upload).select_for_update().exists():
        fail(upload, str(refusal.details.get("rule") or refusal.code), refusal.message)


def _ours(upload: PackWebUpload) -> QuerySet[PackWebUpload]:
    return PackWebUpload.objects.filter(
        pk=upload.pk, upload_status=UploadStatus.PROCESSING, attempt_count=upload.attempt_count
    )


def _resting(before: datetime) -> QuerySet[PackWebUpload]:
    """Open uploads that nothing happened to for a while; locked, those in use passed over."""
    uploads = PackWebUpload.objects.select_for_update(skip_locked=True)
    return uploads.filter(
        pk__in=UploadSource.objects.values("upload"),
        upload_status__in=OPEN_STATUSES,
        updated_at__lt=before,
    ).order_by("pk")


def _is_abandoned(upload: PackWebUpload, now: datetime) -> bool:
    rested = now - upload.updated_at if upload.updated_at else timedelta()
    return rested > timedelta(hours=settings.STICKER_DRAFT_HOURS)
