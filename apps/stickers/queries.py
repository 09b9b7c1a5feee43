"""Reads of the sticker service: which packs may be seen, and the catalogue in its orders.

The catalogue is walked by keyset: a cursor holds the sort value and id of the last row, so that
rows whose sort value does not change are met exactly once, however the catalogue changes meanwhile.
"""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, TypeVar

from django.db import models
from django.db.models import OuterRef, Q, QuerySet, Subquery, Value

from apps.stickers import errors
from apps.stickers.archives import StickerSource
from apps.stickers.choices import CurationStatus, PackStatus, Visibility
from apps.stickers.exporting import ExportedPack
from apps.stickers.models import (
    CategoryDrift,
    PackEngagement,
    PackScoreSnapshot,
    StickerPack,
    StickerPackItem,
)
from apps.stickers.storage import read_asset
from apps.whatsapp_auth.queries import owner_jids_of

P = TypeVar("P", bound=QuerySet[StickerPack])

SHAREABLE = (Visibility.PUBLIC, Visibility.UNLISTED)
MAX_PAGE = 60


@dataclass(frozen=True, slots=True)
class Sort:
    """One order of the catalogue: the table and column that it is read from, greatest first."""

    name: str
    model: type[models.Model]
    column: str

    @property
    def pack_column(self) -> str:
        """The column that names the pack: also the primary key, so the order is total."""
        return "pk" if self.model is StickerPack else "pack_id"


SORTS = {
    sort.name: sort
    for sort in (
        Sort("popular", PackScoreSnapshot, "ranking_score"),
        Sort("trending", PackScoreSnapshot, "trend_score"),
        Sort("new", StickerPack, "created_at"),
        Sort("liked", PackEngagement, "like_count"),
        Sort("downloads", PackEngagement, "open_count"),
    )
}


@dataclass(frozen=True, slots=True)
class CataloguePage:
    """One page and the cursor of the next, None at the end."""

    packs: Sequence[StickerPack]
    next_cursor: str | None


def rankable_packs() -> QuerySet[StickerPack]:
    """Published, complete packs that others may find: those that have a snapshot."""
    return StickerPack.objects.filter(
        deleted_at=None,
        status=PackStatus.PUBLISHED,
        pack_status=CurationStatus.READY,
        visibility__in=SHAREABLE,
    )


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
    pack = _with_relations(packs).filter(pack_key=pack_key).first()
    if pack is None:
        raise errors.PackNotFound(pack_key)
    return pack


def catalogue_page(
    *,
    sort: str = "popular",
    visibility: str = Visibility.PUBLIC,
    search: str = "",
    limit: int = 24,
    cursor: str | None = None,
) -> CataloguePage:
    """A page of the catalogue in one of the SORTS, in two queries. Raises InvalidCursor."""
    order = SORTS[sort]
    packs = rankable_packs()
    if visibility != "all":
        packs = packs.filter(visibility=visibility)
    if search:
        packs = packs.filter(Q(name__icontains=search) | Q(publisher__icontains=search))
    rows = _ranked(order, packs)
    if cursor:
        rows = rows.filter(_after(order, *_decode(cursor, order)))
    found = list(rows.values_list(order.pack_column, order.column)[: limit + 1])
    page = found[:limit]
    by_id = _with_relations(StickerPack.objects.all()).in_bulk([pk for pk, _value in page])
    has_more = len(found) > limit
    return CataloguePage(
        packs=[by_id[pk] for pk, _value in page if pk in by_id],
        next_cursor=_encode(page[-1][0], page[-1][1], order) if has_more else None,
    )


def _ranked(order: Sort, listed: QuerySet[StickerPack]) -> QuerySet[Any]:
    """The ranking table in index order, without the rows of packs that are not listed.

    Whether a pack is listed is asked row by row on the way: a join would let the optimizer begin
    with all listed packs and sort them, which takes a thousand times as long on 100,000 packs.
    """
    asked = listed.filter(pk=OuterRef(order.pack_column)).values(listed=Value(1))[:1]
    rows = order.model._default_manager.annotate(is_listed=Subquery(asked)).filter(is_listed=1)
    return rows.order_by(f"-{order.column}", f"-{order.pack_column}")


def _after(order: Sort, value: Any, last_id: str) -> Q:
    """What comes after a row; the first half alone bounds the index."""
    return Q(**{f"{order.column}__lte": value}) & (
        Q(**{f"{order.column}__lt": value}) | Q(**{f"{order.pack_column}__lt": last_id})
    )


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


def _with_relations(packs: P) -> P:
    return packs.select_related("snapshot", "engagement", "cover_sticker")


def _encode(last_id: str, value: Any, order: Sort) -> str:
    text = value.isoformat() if isinstance(value, datetime) else str(value)
    raw = json.dumps([order.name, text, last_id], separators=(",", ":"))
    return base64.urlsafe_b64encode(raw.encode()).decode().rstrip("=")


def _decode(cursor: str, order: Sort) -> tuple[Any, str]:
    """The sort value and id in a cursor; one of another order is refused."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        name, text, last_id = json.loads(base64.urlsafe_b64decode(padded))
        if name != order.name:
            raise errors.InvalidCursor
        value = datetime.fromisoformat(text) if order.name == "new" else Decimal(text)
    except (ValueError, TypeError, ArithmeticError, binascii.Error) as error:
        raise errors.InvalidCursor from error
    return value, str(last_id)


def current_weights() -> Mapping[str, Any] | None:
    """The newest weights of the pack score; None before the first measure."""
    newest = CategoryDrift.objects.order_by("-pk").values_list("weights", flat=True).first()
    return dict(newest) if newest else None
