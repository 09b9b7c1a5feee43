"""Reads of the catalogue's front: intents, creators, recommendations and totals.

What runs over the whole catalogue is kept for a minute, and computed by one caller at a time.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from django.conf import settings
from django.core.cache import cache
from django.db.models import Avg, Count, F, QuerySet, Sum, Window
from django.db.models.functions import Coalesce, Lower, RowNumber, Trim, TruncDate

from apps.stickers import marketplace
from apps.stickers.catalogue import Wish, catalogue_page
from apps.stickers.choices import Interaction, Visibility
from apps.stickers.marketplace import Entry
from apps.stickers.models import InteractionEvent, PackTag, StickerPack
from apps.stickers.queries import rankable_packs, with_relations

T = TypeVar("T")

RECENT = timedelta(days=30)
SEEN = timedelta(days=45)
MAX_SEEN = 160
SERIES_DAYS = 7
MAX_TAGS = 12


@dataclass(frozen=True, slots=True)
class Intents:
    """The five collections, and the packs that they name."""

    collections: Mapping[str, Sequence[str]]
    packs: Mapping[str, StickerPack]


@dataclass(frozen=True, slots=True)
class RankedCreator:
    """A creator of the whole catalogue with the pack that shows them best."""

    creator: marketplace.Creator
    top_pack: StickerPack | None


@dataclass(frozen=True, slots=True)
class Recommended:
    """Packs for one viewer, and the tags that they were chosen by."""

    packs: Sequence[StickerPack]
    affinity_tags: Sequence[str]
    is_personalized: bool


def intents(*, visibility: str = Visibility.PUBLIC, limit: int = 18) -> Intents:
    """The five collections, drawn from the best packs of each order of the catalogue.

    The best rated are looked for among four times as many of the most liked: a pack with a high
    balance has at least as many likes.
    """
    packs: dict[str, StickerPack] = {}
    for sort, count in (("popular", 1), ("trending", 1), ("new", 1), ("liked", 4)):
        most = min(60, limit * count)
        for is_sensitive_shown in (False, True) if sort == "trending" else (False,):
            page = catalogue_page(
                Wish(sort, visibility, include_sensitive=is_sensitive_shown, limit=most)
            )
            packs |= {pack.pk: pack for pack in page.packs}
    changed = _listed(visibility).exclude(snapshot__sensitive_content=True)
    for pack in with_relations(changed).order_by("-updated_at", "-pk")[:limit]:
        packs[pack.pk] = pack
    entries = [entry_of(pack) for pack in packs.values()]
    return Intents(marketplace.intent_collections(entries, limit=limit), packs)


def creators(*, visibility: str = Visibility.PUBLIC, limit: int = 50) -> list[RankedCreator]:
    """Publishers of the whole catalogue by their score."""
    most = max(marketplace.MIN_CREATORS, min(marketplace.MAX_CREATORS, limit))
    return kept(f"creators:{visibility}:{most}", lambda: _creators(visibility, most))


def stats(*, visibility: str = Visibility.PUBLIC, now: datetime) -> dict[str, Any]:
    """How many packs, stickers, creators and downloads there are, and the last days' visitors."""
    return kept(f"stats:{visibility}", lambda: _stats(visibility, now))


def popular_tags() -> list[str]:
    """The tags that most packs carry; what the filters offer."""
    return kept("tags", _popular_tags)


def recommended(actor_key: str, *, limit: int = 18, now: datetime) -> Recommended:
    """What a viewer may like: unseen safe packs that share tags with those of their last month."""
    viewed = _viewed(actor_key, since=now - RECENT, most=120)
    seen = list(_viewed(actor_key, since=now - SEEN, most=MAX_SEEN))
    known = {
        pack.pk: entry_of(pack).tags
        for pack in with_relations(StickerPack.objects.filter(pk__in=viewed))
    }
    affinity = marketplace.tag_affinity(viewed, known)
    favourite = tuple(sorted(affinity, key=lambda tag: (-affinity[tag], tag))[:8])
    wishes = [Wish(sort, include_sensitive=False, limit=60) for sort in ("popular", "trending")]
    if favourite:
        wishes.append(Wish(categories=favourite, include_sensitive=False, limit=60))
    packs = {pack.pk: pack for wish in wishes for pack in catalogue_page(wish).packs}
    entries = [entry_of(pack) for pack in packs.values()]
    chosen = marketplace.recommendations(entries, affinity, exclude=seen, limit=limit)
    return Recommended([packs[pk] for pk in chosen], favourite, bool(favourite))


def entry_of(pack: StickerPack) -> Entry:
    """A pack, read with its relations, as the pure rules know it."""
    snapshot = getattr(pack, "snapshot", None)
    counters = getattr(pack, "engagement", None)
    scores = (snapshot.scores_json if snapshot else None) or {}
    return Entry(
        pack_id=pack.pk,
        publisher=pack.publisher,
        updated_at=pack.updated_at,
        like_count=counters.like_count if counters else 0,
        dislike_count=counters.dislike_count if counters else 0,
        open_count=counters.open_count if counters else 0,
        ranking_score=float(snapshot.ranking_score) if snapshot else 0.0,
        pack_score=float(snapshot.pack_score) if snapshot else 0.0,
        trend_score=float(snapshot.trend_score) if snapshot else 0.0,
        is_trending=bool(scores.get("trending_now")),
        nsfw_level=snapshot.nsfw_level if snapshot else "safe",
        tags=tuple((snapshot.tags if snapshot else None) or ()),
    )


def kept(key: str, compute: Callable[[], T]) -> T:
    """The value kept under a key, or a new one; while one caller computes, others take the old.

    The keys are few and made here: nothing that visitors type becomes one.
    """
    seconds = settings.CATALOGUE_STATS_CACHE_SECONDS
    if not seconds:
        return compute()
    found = cache.get(key)
    is_ours = found is None or (
        cache.get(f"{key}:fresh") is None and cache.add(f"{key}:fresh", 1, seconds)
    )
    if not is_ours and found is not None:
        kept_value: T = found
        return kept_value
    value = compute()
    cache.set(key, value, 10 * seconds)
    cache.set(f"{key}:fresh", 1, seconds)
    return value


def _listed(visibility: str) -> QuerySet[StickerPack]:
    packs = rankable_packs()
    return packs if visibility == "all" else packs.filter(visibility=visibility)


def _creators(visibility: str, limit: int) -> list[RankedCreator]:
    named = _listed(visibility).annotate(creator=Lower(Trim("publisher")))
    grouped = named.values("creator").annotate(
        packs_count=Count("pk"),
        likes=Coalesce(Sum("engagement__like_count"), 0),
        opens=Coalesce(Sum("engagement__open_count"), 0),
        mean=Avg("snapshot__pack_score"),
    )
    score = 0.45 * Coalesce(F("mean"), 0.0) + 0.0008 * F("likes") + 0.00015 * F("opens")
    rows = list(grouped.order_by((score).desc(), "creator")[:limit])
    rank = Window(
        RowNumber(),
        partition_by=[F("creator")],
        order_by=[F("snapshot__pack_score").desc(nulls_last=True), F("pk").asc()],
    )
    best = named.filter(creator__in=[row["creator"] for row in rows]).annotate(place=rank)
    ids = [pk for pk, _place in best.filter(place=1).values_list("pk", "place")]
    packs = with_relations(StickerPack.objects.filter(pk__in=ids))
    top = {pack.publisher.strip().lower(): pack for pack in packs}
    return [_ranked_creator(row, top.get(row["creator"])) for row in rows]


def _ranked_creator(row: Mapping[str, Any], top: StickerPack | None) -> RankedCreator:
    mean = round(float(row["mean"] or 0), 6)
    likes, opens = int(row["likes"]), int(row["opens"])
    name = top.publisher.strip() if top else row["creator"]
    creator = marketplace.Creator(
        publisher=name or marketplace.UNKNOWN_PUBLISHER,
        creator_score=marketplace.creator_score(
            avg_pack_score=mean, total_likes=likes, total_opens=opens
        ),
        packs_count=row["packs_count"],
        total_likes=likes,
        total_opens=opens,
        avg_pack_score=mean,
        top_pack=top.pk if top else "",
    )
    return RankedCreator(creator, top)


def _stats(visibility: str, now: datetime) -> dict[str, Any]:
    totals = _listed(visibility).aggregate(
        packs_total=Count("pk"),
        stickers_total=Coalesce(Sum("snapshot__sticker_count"), 0),
        creators_total=Count(Lower(Trim("publisher")), distinct=True),
        downloads_total=Coalesce(Sum("engagement__open_count"), 0),
        likes_total=Coalesce(Sum("engagement__like_count"), 0),
    )
    return {**totals, "series": _series(now), "computed_at": now}


def _series(now: datetime) -> list[dict[str, Any]]:
    """Opens and likes of each of the last days, days without any included."""
    first = (now - timedelta(days=SERIES_DAYS - 1)).date()
    start = datetime.combine(first, datetime.min.time(), tzinfo=UTC)
    events = InteractionEvent.objects.filter(created_at__gte=start)
    counted = events.annotate(day=TruncDate("created_at", tzinfo=UTC)).values("day", "interaction")
    found = {
        (row["day"], row["interaction"]): row["count"]
        for row in counted.annotate(count=Count("pk")).order_by()
    }
    days = [first + timedelta(days=number) for number in range(SERIES_DAYS)]
    return [
        {
            "day": day.isoformat(),
            "opens": found.get((day, Interaction.OPEN), 0),
            "likes": found.get((day, Interaction.LIKE), 0),
        }
        for day in days
    ]


def _popular_tags() -> list[str]:
    counted = PackTag.objects.exclude(tag="nsfw").values("tag").annotate(count=Count("pk"))
    rows = counted.order_by("-count", "tag").values_list("tag", flat=True)
    return list(rows[:MAX_TAGS])


def _viewed(actor_key: str, *, since: datetime, most: int) -> dict[str, int]:
    if not actor_key:
        return {}
    events = InteractionEvent.objects.filter(actor_key=actor_key, created_at__gte=since)
    rows = events.values("pack_id").annotate(count=Count("pk")).order_by("-count", "pack_id")
    return {row["pack_id"]: row["count"] for row in rows[:most]}
