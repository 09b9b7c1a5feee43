"""Reads of the sticker service: which packs may be seen, and what they hold."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from django.db import models
from django.db.models import Q, QuerySet

from apps.stickers import errors
from apps.stickers.archives import StickerSource
from apps.stickers.choices import CurationStatus, Interaction, PackStatus, Visibility
from apps.stickers.exporting import ExportedPack
from apps.stickers.models import CategoryDrift, InteractionEvent, StickerPack, StickerPackItem
from apps.stickers.storage import read_asset
from apps.whatsapp_auth.queries import owner_jids_of

P = TypeVar("P", bound=QuerySet[StickerPack])

SHAREABLE = (Visibility.PUBLIC, Visibility.UNLISTED)


def rankable_packs() -> QuerySet[StickerPack]:
    """Published, complete packs that others may find: those that have a snapshot."""
    return StickerPack.objects.filter(
        deleted_at=None,
        status=PackStatus.PUBLISHED,
        pack_status=CurationStatus.READY,
        visibility__in=SHAREABLE,
    ).exclude(moderation__is_hidden=True)


def visible_pack(
    pack_key: str, *, owner_jid: str | None = None, sees_all: bool = False
) -> StickerPack:
    """The pack under a key, if the caller may see it. Raises PackNotFound.

    Owners see their own packs in any state, `sees_all` every pack that is not deleted.
    """
    packs = rankable_packs()
    if sees_all:
        packs = StickerPack.objects.filter(deleted_at=None)
    elif owner_jid:
        packs = StickerPack.objects.filter(
            Q(pk__in=packs) | Q(owner_jid__in=owner_jids_of(owner_jid), deleted_at=None)
        )
    pack = with_relations(packs).filter(pack_key=pack_key).first()
    if pack is None:
        raise errors.PackNotFound(pack_key)
    return pack


def own_packs(owner_jid: str) -> QuerySet[StickerPack]:
    """The packs of an owner under every address of theirs, in any state, newest change first."""
    packs = StickerPack.objects.filter(owner_jid__in=owner_jids_of(owner_jid), deleted_at=None)
    counted = packs.annotate(item_count=models.Count("items"))
    return counted.select_related("cover_sticker").order_by("-updated_at", "pk")


def pack_items(pack: StickerPack) -> QuerySet[StickerPackItem]:
    """The stickers of a pack in order, with what is known of them."""
    return pack.items.select_related("sticker", "sticker__classification").order_by("position")


def exported_pack(pack_key: str) -> ExportedPack:
    """A pack with the bytes of its stickers. Raises PackNotFound, StickerFileMissing."""
    pack = visible_pack(pack_key, sees_all=True)
    stickers = [
        StickerSource(
            file_name=f"{item.position:02}.webp",
            data=read_asset(item.sticker),
            emojis=tuple(item.emojis or ()),
            label=item.accessibility_label or "",
        )
        for item in pack_items(pack)
    ]
    return ExportedPack(pack.pack_key, pack.name, pack.publisher, pack.version, stickers)


def packs_showing(asset_ids: Sequence[str]) -> list[str]:
    """The ids of the packs that hold any of these stickers."""
    items = StickerPackItem.objects.filter(sticker__in=asset_ids)
    return list(items.values_list("pack_id", flat=True).distinct())


def opinion_of(pack: StickerPack, actor_key: str) -> str:
    """What an actor thinks of a pack: like, dislike or nothing."""
    done = InteractionEvent.objects.filter(
        pack=pack, actor_key=actor_key, interaction__in=(Interaction.LIKE, Interaction.DISLIKE)
    )
    return done.order_by("-pk").values_list("interaction", flat=True).first() or ""


def with_relations(packs: P) -> P:
    """The packs with what lists show beside them, in the same query."""
    return packs.select_related("snapshot", "engagement", "cover_sticker")


def current_weights() -> Mapping[str, Any] | None:
    """The newest weights of the pack score; None before the first measure."""
    newest = CategoryDrift.objects.order_by("-pk").values_list("weights", flat=True).first()
    return dict(newest) if newest else None
