"""The catalogue: which packs a list shows, in which order, and with which scores.

It is ordered as a whole and walked by keyset: a cursor holds the sort value and id of the last row,
so that packs whose sort value does not change are met exactly once, however the rest changes.
"""

import base64
import binascii
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import OuterRef, Q, QuerySet, Subquery, Value

from apps.flags.services import is_enabled
from apps.stickers import errors
from apps.stickers.choices import Visibility
from apps.stickers.live_scores import pack_scores
from apps.stickers.models import PackEngagement, PackScoreSnapshot, PackTag, StickerPack
from apps.stickers.queries import rankable_packs, with_relations
from apps.stickers.search import matching_ids

SNAPSHOT_FLAG = "enable_ranking_snapshot_read"
SOURCE_VERSION = "v1"
MAX_PAGE = 60
MAX_CATEGORIES = 20
# Fewer matches than this are sorted; more are met on a walk in index order.
FEW = 2_000


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
class Wish:
    """What a list is asked for; the defaults are the catalogue's first page."""

    sort: str = "popular"
    visibility: str = Visibility.PUBLIC
    search: str = ""
    categories: tuple[str, ...] = ()
    publisher: str = ""
    include_sensitive: bool = True
    limit: int = 24
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class CataloguePage:
    """One page and the cursor of the next, None at the end."""

    packs: Sequence[StickerPack]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class ShownScores:
    """The scores that a page shows of a pack, and of when they are."""

    signals: Mapping[str, Any]
    tags: Sequence[str]
    sticker_count: int
    refreshed_at: datetime
    is_live: bool


def catalogue_page(wish: Wish) -> CataloguePage:
    """A page of the catalogue, in two queries and one for each search or narrow filter.

    Raises InvalidCursor.
    """
    order = SORTS[wish.sort]
    rows = _ranked(order, _listed(wish))
    after = _decode(wish.cursor, order) if wish.cursor else None
    found = _take(order, rows, after, wish.limit + 1)
    page = found[: wish.limit]
    by_id = with_relations(StickerPack.objects.all()).in_bulk([pk for pk, _value in page])
    has_more = len(found) > wish.limit
    return CataloguePage(
        packs=[by_id[pk] for pk, _value in page if pk in by_id],
        next_cursor=_encode(page[-1][0], page[-1][1], order) if has_more else None,
    )


def reads_snapshots(subject_key: str) -> bool:
    """Whether this visitor is shown the scores of snapshots; otherwise they are computed live."""
    return is_enabled(SNAPSHOT_FLAG, subject_key=subject_key, fallback=True)


def shown_scores(
    packs: Iterable[StickerPack], *, reads_snapshots: bool, now: datetime
) -> Mapping[str, ShownScores]:
    """The scores of these packs: of their snapshots, or live while they are not read.

    A snapshot that is far older than its refresh, or of another version of the formulas, is not
    believed: its pack is computed live as well, all of them in three queries.
    """
    shown = list(packs)
    fresh = {
        pack.pk: of_snapshot(pack.snapshot)
        for pack in shown
        if reads_snapshots and _is_believed(pack, now)
    }
    computed = [pack.pk for pack in shown if pack.pk not in fresh]
    if not computed:
        return fresh
    live = pack_scores(StickerPack.objects.filter(pk__in=computed), now=now)
    return fresh | {
        pk: ShownScores(found.signals, found.tags, found.sticker_count, now, is_live=True)
        for pk, found in live.items()
    }


def of_snapshot(snapshot: PackScoreSnapshot) -> ShownScores:
    """What a snapshot says, whatever its age."""
    return ShownScores(
        snapshot.scores_json or {},
        snapshot.tags or [],
        snapshot.sticker_count,
        snapshot.refreshed_at,
        is_live=False,
    )


def _is_believed(pack: StickerPack, now: datetime) -> bool:
    snapshot: PackScoreSnapshot | None = getattr(pack, "snapshot", None)
    if snapshot is None or snapshot.source_version != SOURCE_VERSION:
        return False
    oldest = now - timedelta(seconds=2 * settings.SNAPSHOT_MAX_AGE_SECONDS)
    return snapshot.refreshed_at >= oldest


def _listed(wish: Wish) -> QuerySet[StickerPack]:
    packs = rankable_packs()
    if wish.visibility != "all":
        packs = packs.filter(visibility=wish.visibility)
    if not wish.include_sensitive:
        packs = packs.exclude(snapshot__sensitive_content=True)
    if wish.publisher:
        packs = _narrowed(packs, packs.filter(publisher=wish.publisher))
    if wish.categories:
        tagged = PackTag.objects.filter(tag__in=wish.categories).values("pack")
        packs = _narrowed(packs, packs.filter(pk__in=tagged))
    if wish.search:
        packs = packs.filter(pk__in=matching_ids(packs, wish.search))
    return packs


def _narrowed(
    packs: QuerySet[StickerPack], fitting: QuerySet[StickerPack]
) -> QuerySet[StickerPack]:
    """A filter that few packs pass becomes the list of their ids, so that nothing is walked."""
    few = list(fitting.values_list("pk", flat=True)[: FEW + 1])
    return fitting if len(few) > FEW else packs.filter(pk__in=few)


def _ranked(order: Sort, listed: QuerySet[StickerPack]) -> QuerySet[Any]:
    """The ranking table in index order, without the rows of packs that are not listed.

    Whether a pack is listed is asked row by row on the way: a join would let the optimizer begin
    with all listed packs and sort them, which takes a thousand times as long on 100,000 packs.
    """
    asked = listed.filter(pk=OuterRef(order.pack_column)).values(listed=Value(1))[:1]
    rows = order.model._default_manager.annotate(is_listed=Subquery(asked)).filter(is_listed=1)
    return rows.order_by(f"-{order.column}", f"-{order.pack_column}")


def _take(
    order: Sort, rows: QuerySet[Any], after: tuple[Any, str] | None, count: int
) -> list[tuple[str, Any]]:
    """The next rows; those without a value (adopted packs may have no date) come last."""
    columns = (order.pack_column, order.column)
    found: list[tuple[str, Any]] = []
    known = rows.exclude(**{order.column: None})
    if after is None or after[0] is not None:
        known = known.filter(_after(order, *after)) if after else known
        found = list(known.values_list(*columns)[:count])
    is_nullable = order.model._meta.get_field(order.column).null
    if is_nullable and len(found) < count:
        undated = rows.filter(**{order.column: None})
        if after and after[0] is None:
            undated = undated.filter(**{f"{order.pack_column}__lt": after[1]})
        found += undated.values_list(*columns)[: count - len(found)]
    return found


def _after(order: Sort, value: Any, last_id: str) -> Q:
    """What comes after a row; the first half alone bounds the index."""
    return Q(**{f"{order.column}__lte": value}) & (
        Q(**{f"{order.column}__lt": value}) | Q(**{f"{order.pack_column}__lt": last_id})
    )


def _encode(last_id: str, value: Any, order: Sort) -> str:
    text = value.isoformat() if isinstance(value, datetime) else str(value)
    raw = json.dumps([order.name, None if value is None else text, last_id])
    return base64.urlsafe_b64encode(raw.encode()).decode().rstrip("=")


def _decode(cursor: str, order: Sort) -> tuple[Any, str]:
    """The sort value and id in a cursor; one of another order is refused."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        name, text, last_id = json.loads(base64.urlsafe_b64decode(padded))
        if name != order.name:
            raise errors.InvalidCursor
        value = _value(text, order)
    except (ValueError, TypeError, ArithmeticError, binascii.Error) as error:
        raise errors.InvalidCursor from error
    return value, str(last_id)


def _value(text: str | None, order: Sort) -> Any:
    if order.name == "new":
        return None if text is None else datetime.fromisoformat(text)
    return Decimal(str(text))
