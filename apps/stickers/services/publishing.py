"""Publishing a pack: when all its uploads are settled and WhatsApp will show it."""

from dataclasses import dataclass
from enum import StrEnum

from django.conf import settings
from django.db import transaction
from django.db.models import Count

from apps.stickers import errors
from apps.stickers.choices import PackStatus, UploadStatus
from apps.stickers.models import StickerPack
from apps.stickers.services.packs import MIN_PACK_STICKERS, lock_pack, publish_status


class Hindrance(StrEnum):
    """Why a pack cannot be published, the first that applies."""

    FAILED_UPLOADS = "failed_uploads"
    UPLOADS_PROCESSING = "uploads_processing"
    UPLOADS_PENDING = "uploads_pending"
    COVER_MISSING = "cover_missing"
    NOT_ENOUGH_STICKERS = "not_enough_stickers"


@dataclass(frozen=True, slots=True)
class PublishState:
    """Where a pack stands on its way: its status, what is in it, and what hinders it."""

    status: str
    sticker_count: int
    uploads: dict[str, int]
    hindrance: Hindrance | None


@transaction.atomic
def finalize_pack(pack_key: str, *, owner_jid: str | None) -> StickerPack:
    """Publish a pack; one that is published stays so.

    Raises PackNotFound, NotPackOwner, NotPublishable (which tells the reason).
    """
    pack = lock_pack(pack_key, owner_jid=owner_jid)
    if pack.status == PackStatus.PUBLISHED:
        return pack
    state = publish_state(pack)
    if state.hindrance:
        raise errors.NotPublishable(state.hindrance, state.uploads)
    publish_status(pack, PackStatus.PUBLISHED)
    return pack


def publish_state(pack: StickerPack) -> PublishState:
    """Count what a pack holds and find what hinders it."""
    counted = pack.uploads.values_list("upload_status").annotate(count=Count("pk")).order_by()
    uploads = {status.value: 0 for status in UploadStatus} | dict(counted)
    count = pack.items.count()
    return PublishState(pack.status, count, uploads, _hindrance(pack, count, uploads))


def _hindrance(pack: StickerPack, count: int, uploads: dict[str, int]) -> Hindrance | None:
    if uploads[UploadStatus.FAILED]:
        return Hindrance.FAILED_UPLOADS
    if uploads[UploadStatus.PROCESSING]:
        return Hindrance.UPLOADS_PROCESSING
    if uploads[UploadStatus.PENDING]:
        return Hindrance.UPLOADS_PENDING
    if count and not pack.items.filter(sticker_id=pack.cover_sticker_id).exists():
        return Hindrance.COVER_MISSING
    if not MIN_PACK_STICKERS <= count <= settings.STICKER_PACK_MAX_ITEMS:
        return Hindrance.NOT_ENOUGH_STICKERS
    return None
