"""Whose packs and stickers they are: moved when an identity is reconciled, released when erased."""

from collections.abc import Collection
from typing import Any

from django.db import transaction

from apps.common.fields import now_seconds
from apps.outbox.events import NewEvent
from apps.outbox.services import publish_many
from apps.stickers.models import PackOwner, PackWebUpload, StickerAsset, StickerPack

NOBODY = "erased@pombo.invalid"
NO_PUBLISHER = "–"


@transaction.atomic
def move_ownership(former_jids: Collection[str], new_jid: str) -> int:
    """Give packs and stickers of the former addresses to the new one; tells how many packs.

    Harmless to repeat: what has moved is not found again.
    """
    packs = _lock_packs(former_jids)
    _change_packs(packs, owner_jid=new_jid, action="owner_changed")
    StickerAsset.objects.filter(owner_jid__in=former_jids).update(owner_jid=new_jid)
    return len(packs)


def export_owned(owner_jids: Collection[str]) -> list[dict[str, Any]]:
    """What is kept under these addresses, for the person whose they are."""
    packs = StickerPack.objects.filter(owner_jid__in=owner_jids).order_by("pk")
    names = ("pack_key", "name", "publisher", "description", "visibility", "created_at")
    rows: list[dict[str, Any]] = [
        {name: str(value) for name, value in row.items()} for row in packs.values(*names)
    ]
    stickers = StickerAsset.objects.filter(owner_jid__in=owner_jids).order_by("pk")
    return rows + [{"sticker": sha256} for sha256 in stickers.values_list("sha256", flat=True)]


@transaction.atomic
def release_ownership(owner_jids: Collection[str]) -> int:
    """Delete the packs of these addresses and forget whose the stickers were.

    Equal stickers are stored once for everybody, so the files stay while other packs show them.
    """
    packs = _lock_packs(owner_jids)
    _change_packs(
        packs,
        owner_jid=NOBODY,
        publisher=NO_PUBLISHER,
        description=None,
        deleted_at=now_seconds(),
        action="deleted",
    )
    PackOwner.objects.filter(owner_jid__in=owner_jids).delete()
    # Files that are still arriving go with the next clean-up, which finds no row for them.
    PackWebUpload.objects.filter(pack__in=packs).delete()
    stickers = StickerAsset.objects.filter(owner_jid__in=owner_jids).update(owner_jid=NOBODY)
    return len(packs) + stickers


def _lock_packs(owner_jids: Collection[str]) -> list[str]:
    packs = StickerPack.objects.select_for_update().filter(owner_jid__in=owner_jids)
    return list(packs.order_by("pk").values_list("pk", flat=True))


def _change_packs(packs: list[str], *, action: str, **values: Any) -> None:
    StickerPack.objects.filter(pk__in=packs).update(**values, updated_at=now_seconds())
    publish_many(
        NewEvent("PACK_UPDATED", "sticker_pack", pk, {"action": action, "pack_id": pk})
        for pk in packs
    )
