"""Reads of the sticker service: which packs may be seen, and the catalogue in its orders.

The catalogue is walked by keyset: a cursor holds the sort value and id of the last row, so that
rows whose sort value does not change are met exactly once, however the catalogue changes meanwhile.
"""

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeVar

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce

from apps.stickers import errors
from apps.stickers.choices import CurationStatus, PackStatus, Visibility
from apps.stickers.models import StickerPack, StickerPackItem

P = TypeVar("P", bound=QuerySet[StickerPack])

SHAREABLE = (Visibility.PUBLIC, Visibility.UNLISTED)
MAX_PAGE = 60


@dataclass(frozen=True, slots=True)
class Sort:
    """One order of the catalogue: the expression that is sorted by, greatest first."""

    name: str
    expression: Any


SORTS = {
    sort.name: sort
    for sort in (
        Sort("popular", Coalesce("snapshot__ranking_score", Decimal(0))),
        Sort("trending", Coalesce("snapshot__trend_score", Decimal(0))),
        Sort("new", F("created_at")),
        Sort("liked", Coalesce("engagement__like_count", 0)),
        Sort("downloads", Coalesce("engagement__open_count", 0)),
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
            Q(pk__in=packs) | Q(owner_jid=owner_jid, deleted_at=None)
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
    """A page of the catalogue in one of the SORTS. Raises InvalidCursor."""
    packs = rankable_packs()
    if visibility != "all":
        packs = packs.filter(visibility=visibility)
    if search:
        packs = packs.filter(Q(name__icontains=search) | Q(publisher__icontains=search))
    ordered = packs.annotate(sort_value=SORTS[sort].expression)
    if cursor:
        value, last_id = _decode(cursor, sort)
        ordered = ordered.filter(Q(sort_value__lt=value) | Q(sort_value=value, pk__lt=last_id))
    rows = list(_with_relations(ordered).order_by("-sort_value", "-pk")[: limit + 1])
    page = rows[:limit]
    has_more = len(rows) > limit
    return CataloguePage(page, _encode(page[-1], sort) if has_more else None)


def pack_items(pack: StickerPack) -> QuerySet[StickerPackItem]:
    """The stickers of a pack in order, with what is known of them."""
    return pack.items.select_related("sticker", "sticker__classification").order_by("position")


def packs_showing(asset_ids: Sequence[str]) -> list[str]:
    """The ids of the packs that hold any of these stickers."""
    items = StickerPackItem.objects.filter(sticker__in=asset_ids)
    return list(items.values_list("pack_id", flat=True).distinct())


def _with_relations(packs: P) -> P:
    return packs.select_related("snapshot", "engagement", "cover_sticker")


def _encode(pack: Any, sort: str) -> str:
    value = pack.sort_value
    text = value.isoformat() if sort == "new" else str(value)
    raw = json.dumps([sort, text, pack.pk], separators=(",", ":"))
    return base64.urlsafe_b64encode(raw.encode()).decode().rstrip("=")


def _decode(cursor: str, sort: str) -> tuple[Any, str]:
    """The sort value and id in a cursor; one of another order is refused."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        name, value, last_id = json.loads(base64.urlsafe_b64decode(padded))
        if name != sort:
            raise errors.InvalidCursor
        return (value if sort == "new" else Decimal(value)), str(last_id)
    except (ValueError, TypeError, ArithmeticError, binascii.Error) as error:
        raise errors.InvalidCursor from error
