"""Drafts that nobody came back to."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef

from apps.common.fields import now_seconds
from apps.outbox.events import NewEvent
from apps.outbox.services import publish_many
from apps.stickers.choices import PackStatus
from apps.stickers.models import PackWebUpload, StickerPack, StickerPackItem

BATCH = 200


@transaction.atomic
def clean_drafts(*, now: datetime) -> int:
    """Delete drafts without stickers that rested for long, and say so; tells how many.

    A draft whose uploads moved lately is not at rest.
    """
    before = now - timedelta(hours=settings.STICKER_DRAFT_HOURS)
    recent = PackWebUpload.objects.filter(pack=OuterRef("pk"), updated_at__gte=before)
    resting = StickerPack.objects.filter(
        ~Exists(StickerPackItem.objects.filter(pack=OuterRef("pk"))),
        ~Exists(recent),
        status__in=(PackStatus.DRAFT, PackStatus.UPLOADING, PackStatus.FAILED),
        deleted_at=None,
        updated_at__lt=before,
    )
    locked = resting.select_for_update().order_by("pk").values_list("pk", flat=True)
    packs = list(locked[:BATCH])
    StickerPack.objects.filter(pk__in=packs).update(
        deleted_at=now, version=F("version") + 1, updated_at=now_seconds()
    )
    publish_many(
        NewEvent("PACK_UPDATED", "sticker_pack", pk, {"action": "deleted", "pack_id": pk})
        for pk in packs
    )
    return len(packs)
