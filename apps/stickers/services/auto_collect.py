"""Keeping a person's new stickers in a pack of theirs, without changing what others can see (P4).

They go into the newest unlisted pack that has room and holds the same kind; without one a new
unlisted pack is made. A private or public pack is never touched.
"""

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Q

from apps.stickers.choices import Visibility
from apps.stickers.images import StickerImage
from apps.stickers.models import StickerPack, StickerPackItem
from apps.stickers.services.packs import add_sticker, create_pack
from apps.whatsapp_auth.queries import owner_jids_of

NEWEST_PACKS = 30


@transaction.atomic
def collect_sticker(image: StickerImage, *, owner_jid: str, publisher: str) -> StickerPackItem:
    """Keep a sticker for its owner; one that is kept already stays where it is."""
    packs = _collections(owner_jid)
    kept = StickerPackItem.objects.filter(pack__in=packs, sticker__sha256=image.sha256).first()
    if kept:
        return kept
    pack = _with_room(packs, image) or create_pack(
        owner_jid=owner_jid,
        name=_next_name(owner_jid),
        publisher=publisher,
        visibility=Visibility.UNLISTED,
    )
    return add_sticker(pack.pack_key, image, owner_jid=owner_jid)


def _collections(owner_jid: str) -> list[StickerPack]:
    """The owner's newest unlisted packs, locked, so that two stickers never found two packs."""
    packs = StickerPack.objects.select_for_update().filter(
        owner_jid__in=owner_jids_of(owner_jid), deleted_at=None, is_auto_pack=False
    )
    newest = list(packs.order_by("-created_at", "-pk")[:NEWEST_PACKS])
    return [pack for pack in newest if pack.visibility == Visibility.UNLISTED]


def _with_room(packs: list[StickerPack], image: StickerImage) -> StickerPack | None:
    others = Q(items__sticker__is_animated=not image.is_animated)
    fitting = (
        StickerPack.objects.filter(pk__in=[pack.pk for pack in packs])
        .annotate(count=Count("items"), other_count=Count("items", filter=others))
        .filter(count__lt=settings.STICKER_PACK_MAX_ITEMS, other_count=0)
    )
    return fitting.order_by("-created_at", "-pk").first()


def _next_name(owner_jid: str) -> str:
    owned = StickerPack.objects.filter(owner_jid__in=owner_jids_of(owner_jid))
    number = owned.filter(name__startswith=settings.AUTO_COLLECT_NAME).count() + 1
    return f"{settings.AUTO_COLLECT_NAME} {number}"
