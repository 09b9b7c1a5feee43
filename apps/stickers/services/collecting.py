"""Collecting an author's new stickers in packs that only their link finds.

A pack's visibility is never touched: where no unlisted pack has room, a new one is made.
"""

import itertools

from django.conf import settings
from django.db import transaction

from apps.stickers import errors
from apps.stickers.choices import Visibility
from apps.stickers.images import StickerImage
from apps.stickers.models import StickerPack, StickerPackItem
from apps.stickers.services.packs import add_sticker, create_own_pack
from apps.whatsapp_auth.queries import owner_jids_of

NEWEST_PACKS = 30


@transaction.atomic
def collect_sticker(image: StickerImage, *, owner_jid: str, publisher: str) -> StickerPackItem:
    """Put a sticker into the first unlisted pack among the newest, or into a new one.

    Raises DuplicateSticker where that pack holds it already, TooManyPacks.
    """
    for pack in _unlisted_packs(owner_jid):
        try:
            return add_sticker(pack.pack_key, image, owner_jid=owner_jid)
        except (errors.PackFull, errors.MixedAnimation):
            continue
    pack = create_own_pack(
        owner_jid=owner_jid,
        name=_free_name(owner_jid),
        publisher=publisher,
        visibility=Visibility.UNLISTED,
    )
    return add_sticker(pack.pack_key, image, owner_jid=owner_jid)


def _unlisted_packs(owner_jid: str) -> list[StickerPack]:
    newest = _own(owner_jid)[:NEWEST_PACKS]
    return [pack for pack in newest if pack.visibility == Visibility.UNLISTED]


def _free_name(owner_jid: str) -> str:
    """The configured name, numbered from the second pack on."""
    base = settings.STICKER_AUTO_PACK_NAME
    taken = {pack.name for pack in _own(owner_jid)}
    names = itertools.chain([base], (f"{base} {number}" for number in itertools.count(2)))
    return next(name for name in names if name not in taken)


def _own(owner_jid: str) -> list[StickerPack]:
    packs = StickerPack.objects.filter(
        owner_jid__in=owner_jids_of(owner_jid), deleted_at=None, is_auto_pack=False
    )
    return list(packs.order_by("-created_at", "-pk"))
