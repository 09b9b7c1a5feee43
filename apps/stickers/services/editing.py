"""Changing packs that are there: texts, visibility, cover, order, removal, deletion.

Every change locks the pack, raises its version and is told in its transaction.
"""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import F

from apps.common.fields import now_seconds
from apps.outbox.services import publish
from apps.stickers import errors, markers, texts
from apps.stickers.choices import PackStatus, Visibility
from apps.stickers.models import StickerPack, StickerPackItem
from apps.stickers.services.packs import MIN_PACK_STICKERS, lock_pack, touch_pack

# Far above any position: rows pass through here on their way, since positions are unique.
PARKED = 10_000
TEXT_LIMITS = {"name": texts.NAME_LIMIT, "publisher": texts.NAME_LIMIT}


@transaction.atomic
def edit_pack(pack_key: str, *, owner_jid: str | None, **changes: Any) -> StickerPack:
    """Change name, publisher, description, tags or visibility; what is not given stays.

    Raises PackNotFound, NotPackOwner, InvalidText, UnknownVisibility.
    """
    pack = lock_pack(pack_key, owner_jid=owner_jid)
    for field, limit in TEXT_LIMITS.items():
        if field in changes:
            changes[field] = texts.required_text(field, changes[field], limit=limit)
    if changes.get("visibility", pack.visibility) not in Visibility:
        raise errors.UnknownVisibility(changes["visibility"])
    if "description" in changes or "tags" in changes:
        changes["description"] = _described(pack, changes)
    different = {name: value for name, value in changes.items() if getattr(pack, name) != value}
    if different:
        _write(pack, **different)
    return pack


@transaction.atomic
def set_cover(pack_key: str, sticker_id: str, *, owner_jid: str | None) -> StickerPack:
    """Make one of the pack's stickers its cover. Raises StickerNotInPack."""
    pack = lock_pack(pack_key, owner_jid=owner_jid)
    _item(pack, sticker_id)
    if pack.cover_sticker_id != sticker_id:
        _write(pack, cover_sticker_id=sticker_id)
    return pack


@transaction.atomic
def remove_sticker(pack_key: str, sticker_id: str, *, owner_jid: str | None) -> StickerPack:
    """Take a sticker out; the others close up, and a lost cover passes to the first.

    Raises PackNotFound, NotPackOwner, StickerNotInPack.
    """
    pack = lock_pack(pack_key, owner_jid=owner_jid)
    item = _item(pack, sticker_id)
    position = item.position
    item.delete()
    later = pack.items.filter(position__gt=position)
    later.update(position=F("position") + PARKED)
    pack.items.filter(position__gt=PARKED).update(position=F("position") - PARKED - 1)
    if pack.cover_sticker_id == sticker_id:
        first = pack.items.order_by("position").select_related("sticker").first()
        pack.cover_sticker = first.sticker if first else None
    _keep_publishable(pack)
    touch_pack(pack)
    return pack


@transaction.atomic
def remove_sticker_at(pack_key: str, position: int, *, owner_jid: str | None) -> StickerPack:
    """Take out the sticker at a place, counted from 1. Raises as remove_sticker does."""
    pack = lock_pack(pack_key, owner_jid=owner_jid)
    item = pack.items.filter(position=position).first()
    if item is None:
        raise errors.StickerNotInPack(str(position))
    return remove_sticker(pack_key, item.sticker_id, owner_jid=owner_jid)


@transaction.atomic
def reorder_stickers(
    pack_key: str, sticker_ids: Sequence[str], *, owner_jid: str | None
) -> StickerPack:
    """Put the named stickers first, in that order; unknown ones are ignored, the rest follow.

    Raises PackNotFound, NotPackOwner.
    """
    pack = lock_pack(pack_key, owner_jid=owner_jid)
    items = list(pack.items.order_by("position"))
    known = {item.sticker_id: item for item in items}
    first = [known[pk] for pk in dict.fromkeys(sticker_ids) if pk in known]
    wanted = first + [item for item in items if item not in first]
    if wanted != items:
        pack.items.update(position=F("position") + PARKED)
        for position, item in enumerate(wanted, 1):
            StickerPackItem.objects.filter(pk=item.pk).update(position=position)
        touch_pack(pack)
    return pack


@transaction.atomic
def delete_pack(pack_key: str, *, owner_jid: str | None) -> None:
    """Hide a pack for good; its key stays taken. Raises PackNotFound, NotPackOwner."""
    pack = lock_pack(pack_key, owner_jid=owner_jid)
    _write(pack, deleted_at=now_seconds())


def _described(pack: StickerPack, changes: dict[str, Any]) -> str | None:
    """The stored description with the wanted text and tags; a theme that it carries stays."""
    held = markers.parse(pack.description)
    tags = changes.pop("tags", held.tags)
    text = changes.get("description", held.text)
    wanted = markers.Description(text or "", markers.clean_tags(tags), held.theme)
    return markers.compose(wanted)


def _keep_publishable(pack: StickerPack) -> None:
    """Take back a published pack that became smaller than WhatsApp shows."""
    count = pack.items.count()
    if pack.status == PackStatus.PUBLISHED and count == MIN_PACK_STICKERS - 1:
        StickerPack.objects.filter(pk=pack.pk).update(status=PackStatus.DRAFT)


def _item(pack: StickerPack, sticker_id: str) -> StickerPackItem:
    item = pack.items.filter(sticker_id=sticker_id).first()
    if item is None:
        raise errors.StickerNotInPack(sticker_id)
    return item


def _write(pack: StickerPack, **values: Any) -> None:
    StickerPack.objects.filter(pk=pack.pk).update(
        **values, version=F("version") + 1, updated_at=now_seconds()
    )
    pack.refresh_from_db()
    names = [name.removesuffix("_id") for name in sorted(values)]
    payload = {"action": "updated", "pack_id": pack.pk, "fields": names}
    publish("PACK_UPDATED", "sticker_pack", pack.pk, payload, priority=70)
