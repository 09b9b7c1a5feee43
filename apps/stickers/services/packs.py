"""Creating packs, copying them and filling them.

Each write locks the pack first, so that limits hold and events of one pack keep their order.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Max

from apps.common.fields import now_seconds
from apps.outbox.services import publish
from apps.stickers import errors, markers, texts
from apps.stickers.choices import PackStatus, Visibility
from apps.stickers.images import StickerImage
from apps.stickers.models import PackEngagement, PackOwner, StickerPack, StickerPackItem
from apps.stickers.services.assets import store_asset
from apps.whatsapp_auth.queries import owner_jids_of

KEY_TRIES = 24
# WhatsApp shows no pack with fewer.
MIN_PACK_STICKERS = 3


@transaction.atomic
def create_pack(
    *,
    owner_jid: str,
    name: str,
    publisher: str,
    description: str = "",
    tags: Iterable[str] = (),
    visibility: str = Visibility.PUBLIC,
    status: str = PackStatus.PUBLISHED,
) -> StickerPack:
    """A new, empty pack under a fresh key; an unknown visibility or status takes the default.

    Raises InvalidText, KeySpaceExhausted.
    """
    described = markers.Description(text=description, tags=markers.clean_tags(tags))
    pack = StickerPack.objects.create(
        owner_jid=owner_jid,
        name=texts.required_text("name", name),
        publisher=texts.required_text("publisher", publisher),
        description=markers.compose(described),
        pack_key=_free_key(name),
        visibility=visibility if visibility in Visibility else Visibility.PUBLIC,
        status=status if status in PackStatus else PackStatus.PUBLISHED,
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
def create_own_pack(*, owner_jid: str, **values: Any) -> StickerPack:
    """A new pack of an author. Raises TooManyPacks, and what create_pack raises."""
    limit = settings.STICKER_PACK_MAX_PACKS_PER_OWNER
    owner_jids = owner_jids_of(owner_jid)
    _lock_owner(min(owner_jids))
    packs = StickerPack.objects.filter(owner_jid__in=owner_jids, deleted_at=None)
    if limit and packs.count() >= limit:
        raise errors.TooManyPacks(limit)
    return create_pack(owner_jid=owner_jid, **values)


@transaction.atomic
def clone_pack(pack_key: str, *, owner_jid: str, name: str = "") -> StickerPack:
    """A copy of an own pack with its texts, stickers, cover and visibility, within the limit.

    Raises PackNotFound, NotPackOwner, TooManyPacks, InvalidText.
    """
    source = lock_pack(pack_key, owner_jid=owner_jid)
    described = markers.parse(source.description)
    copy = create_own_pack(
        owner_jid=source.owner_jid,
        name=name or source.name,
        publisher=source.publisher,
        description=described.text,
        tags=described.tags,
        visibility=source.visibility,
    )
    StickerPackItem.objects.bulk_create(
        StickerPackItem(
            pack=copy,
            sticker_id=item.sticker_id,
            position=position,
            emojis=item.emojis,
            accessibility_label=item.accessibility_label,
        )
        for position, item in enumerate(source.items.order_by("position"), 1)
    )
    copy.cover_sticker = source.cover_sticker
    touch_pack(copy)
    return copy


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
    check_room(pack)
    last = pack.items.aggregate(last=Max("position"))["last"] or 0
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


def check_room(pack: StickerPack, *, more: int = 0) -> None:
    """Whether a locked pack takes one beside its stickers and so many more. Raises PackFull."""
    if pack.items.count() + more >= settings.STICKER_PACK_MAX_ITEMS:
        raise errors.PackFull(settings.STICKER_PACK_MAX_ITEMS)


def publish_status(pack: StickerPack, status: PackStatus) -> None:
    """Move a locked pack on its way to being published, and announce it."""
    StickerPack.objects.filter(pk=pack.pk).update(
        status=status, version=F("version") + 1, updated_at=now_seconds()
    )
    pack.refresh_from_db()
    _publish_update(pack, priority=70, action=f"status_{status}", status=str(status))


def touch_pack(pack: StickerPack) -> None:
    """Write a changed pack's cover, version and time, and announce it."""
    StickerPack.objects.filter(pk=pack.pk).update(
        cover_sticker=pack.cover_sticker, version=F("version") + 1, updated_at=now_seconds()
    )
    pack.refresh_from_db()
    _publish_update(pack, priority=65, action="version_bumped")


def _lock_owner(owner_jid: str) -> None:
    """Make creators of one author's packs take turns until the transaction ends.

    One upsert, since an insert and a later lock of the same row deadlock on InnoDB.
    """
    has_target = connection.features.supports_update_conflicts_with_target
    PackOwner.objects.bulk_create(
        [PackOwner(owner_jid=owner_jid, locked_at=now_seconds())],
        update_conflicts=True,
        update_fields=["locked_at"],
        unique_fields=["owner_jid"] if has_target else None,
    )


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
