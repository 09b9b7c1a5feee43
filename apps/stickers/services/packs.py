"""Creating packs and filling them.

Each write locks the pack first, so that limits hold and events of one pack keep their order.
"""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Max

from apps.common.fields import now_seconds
from apps.outbox.services import publish
from apps.stickers import errors, texts
from apps.stickers.choices import PackStatus, Visibility
from apps.stickers.images import StickerImage
from apps.stickers.models import PackEngagement, StickerPack, StickerPackItem
from apps.stickers.services.assets import store_asset
from apps.whatsapp_auth.queries import owner_jids_of

KEY_TRIES = 24


@transaction.atomic
def create_pack(
    *,
    owner_jid: str,
    name: str,
    publisher: str,
    description: str = "",
    visibility: str = Visibility.PUBLIC,
    status: str = PackStatus.PUBLISHED,
) -> StickerPack:
    """A new, empty pack under a fresh key. Raises InvalidText, KeySpaceExhausted."""
    pack = StickerPack.objects.create(
        owner_jid=owner_jid,
        name=texts.required_text("name", name),
        publisher=texts.required_text("publisher", publisher),
        description=texts.clean_text(description, limit=texts.DESCRIPTION_LIMIT) or None,
        pack_key=_free_key(name),
        visibility=visibility,
        status=status,
    )
    PackEngagement.objects.create(pack=pack)
    _publish_update(
        pack,
        priority=75,
        action="created",
        pack_key=pack.pack_key,
        owner_jid=owner_jid,
        visibility=pack.visibility,
    )
    return pack


@transaction.atomic
def add_sticker(
    pack_key: str,
    image: StickerImage,
    *,
    owner_jid: str | None,
    emojis: Sequence[str] = (),
    label: str = "",
) -> StickerPackItem:
    """Put a valid image at the end of a pack; the first becomes its cover.

    `owner_jid` None means a caller who may change every pack. Raises PackNotFound, NotPackOwner,
    PackFull, DuplicateSticker, MixedAnimation, WrongEmojiCount.
    """
    pack = lock_pack(pack_key, owner_jid=owner_jid)
    item = append_item(pack, image, emojis=emojis, label=label)
    touch_pack(pack)
    return item


def lock_pack(pack_key: str, *, owner_jid: str | None) -> StickerPack:
    """The pack under that key, its row locked; an owner counts under every address of theirs.

    Raises PackNotFound, NotPackOwner.
    """
    pack = (
        StickerPack.objects.select_for_update().filter(pack_key=pack_key, deleted_at=None).first()
    )
    if pack is None:
        raise errors.PackNotFound(pack_key)
    if owner_jid is not None and pack.owner_jid not in owner_jids_of(owner_jid):
        raise errors.NotPackOwner
    return pack


def append_item(
    pack: StickerPack, image: StickerImage, *, emojis: Sequence[str] = (), label: str = ""
) -> StickerPackItem:
    """Store an image and put it at the end of a locked pack, without announcing the pack."""
    count, last = _fill(pack)
    if count >= settings.STICKER_PACK_MAX_ITEMS:
        raise errors.PackFull(settings.STICKER_PACK_MAX_ITEMS)
    if pack.items.filter(sticker__sha256=image.sha256).exists():
        raise errors.DuplicateSticker(image.sha256)
    if pack.items.exclude(sticker__is_animated=image.is_animated).exists():
        raise errors.MixedAnimation(pack_is_animated=not image.is_animated)
    checked = texts.check_emojis(emojis) if emojis else None
    asset = store_asset(image, owner_jid=pack.owner_jid)
    if pack.cover_sticker_id is None:
        pack.cover_sticker = asset
    limit = texts.label_limit(is_animated=image.is_animated)
    return pack.items.create(
        sticker=asset,
        position=last + 1,
        emojis=checked,
        accessibility_label=texts.clean_text(label, limit=limit) or None,
    )


def touch_pack(pack: StickerPack) -> None:
    """Write a changed pack's cover, version and time, and announce it."""
    StickerPack.objects.filter(pk=pack.pk).update(
        cover_sticker=pack.cover_sticker, version=F("version") + 1, updated_at=now_seconds()
    )
    pack.refresh_from_db()
    _publish_update(pack, priority=65, action="version_bumped")


def _fill(pack: StickerPack) -> tuple[int, int]:
    """How many stickers a pack holds, and the position of the last (0 without any)."""
    last = pack.items.aggregate(last=Max("position"))["last"]
    return pack.items.count(), last or 0


def _free_key(name: str) -> str:
    """A key that no pack has or ever had, deleted ones included."""
    for _try in range(KEY_TRIES):
        key = texts.new_pack_key(name)
        if not StickerPack.objects.filter(pack_key=key).exists():
            return key
    raise errors.KeySpaceExhausted


def _publish_update(pack: StickerPack, *, priority: int, action: str, **details: Any) -> None:
    payload = {"action": action, "pack_id": pack.pk, **details}
    publish("PACK_UPDATED", "sticker_pack", pack.pk, payload, priority=priority)
