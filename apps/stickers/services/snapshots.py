"""Score snapshots: the rows by which the catalogue is ranked.

A refresh locks its snapshot rows, then reads its inputs, so that a late refresh never overwrites a
newer one with older inputs. It takes a constant number of queries however many packs it is given.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Count, Q, QuerySet

from apps.stickers import scoring
from apps.stickers.choices import Interaction
from apps.stickers.models import (
    InteractionEvent,
    PackEngagement,
    PackScoreSnapshot,
    StickerPack,
    StickerPackItem,
)
from apps.stickers.queries import rankable_packs
from apps.stickers.services.drift import current_weights

BATCH_SIZE = 120
SOURCE_VERSION = "v1"
HORIZON, BASELINE = timedelta(hours=24), timedelta(days=7)
MAX_TAGS = 30
WRITTEN = (
    "ranking_score",
    "pack_score",
    "trend_score",
    "quality_score",
    "engagement_score",
    "diversity_score",
    "cohesion_score",
    "sensitive_content",
    "nsfw_level",
)


DESCRIBED = ("sticker_count", "tags", "scores_json", "source_version", "refreshed_at")


@dataclass(frozen=True, slots=True)
class _Item:
    """What the formulas need of a sticker in a pack; read as values, for there are many."""

    pack_id: str
    sticker_id: str
    width: int | None
    height: int | None
    size_bytes: int
    is_classified: str | None
    category: str | None
    all_scores: Mapping[str, float] | None
    nsfw_score: Decimal | None
    is_nsfw: bool | None


_ITEM_COLUMNS = (
    "pack_id",
    "sticker_id",
    "sticker__width",
    "sticker__height",
    "sticker__size_bytes",
    "sticker__classification__pk",
    "sticker__classification__category",
    "sticker__classification__all_scores",
    "sticker__classification__nsfw_score",
    "sticker__classification__is_nsfw",
)


def refresh_snapshots(pack_ids: Iterable[str], *, now: datetime) -> int:
    """Recompute the snapshots of these packs; those that may not be ranked lose theirs.

    Tells how many were written. Running it twice writes the same rows.
    """
    ids = sorted(set(pack_ids))
    return sum(
        _refresh_batch(ids[start : start + BATCH_SIZE], now=now)
        for start in range(0, len(ids), BATCH_SIZE)
    )


def refresh_stale(*, now: datetime, limit: int = 10 * BATCH_SIZE) -> int:
    """Recompute missing snapshots first, then the oldest ones past their age; drop the unrankable.

    A snapshot is stale after `SNAPSHOT_MAX_AGE_SECONDS`, and after an hour while its pack had
    visitors within seven days, since trend and decay move with time.
    """
    PackScoreSnapshot.objects.exclude(pack__in=rankable_packs()).delete()
    missing = rankable_packs().filter(snapshot=None).order_by("pk")
    chosen = list(missing.values_list("pk", flat=True)[:limit])
    stale = _stale_snapshots(now).order_by("refreshed_at", "pk")
    chosen += stale.values_list("pk", flat=True)[: limit - len(chosen)]
    return refresh_snapshots(chosen, now=now)


def _stale_snapshots(now: datetime) -> QuerySet[PackScoreSnapshot]:
    old = now - timedelta(seconds=settings.SNAPSHOT_MAX_AGE_SECONDS)
    visited = InteractionEvent.objects.filter(created_at__gte=now - BASELINE).values("pack")
    is_stale = Q(refreshed_at__lt=old) | Q(
        refreshed_at__lt=now - timedelta(hours=1), pack__in=visited
    )
    return PackScoreSnapshot.objects.filter(is_stale)


@transaction.atomic
def _refresh_batch(ids: Sequence[str], *, now: datetime) -> int:
    _ensure_rows(ids)
    locked = PackScoreSnapshot.objects.select_for_update().filter(pk__in=ids).order_by("pk")
    packs = list(rankable_packs().filter(pk__in=list(locked.values_list("pk", flat=True))))
    rows = _compute(packs, now=now)
    PackScoreSnapshot.objects.exclude(pk__in=[pack.pk for pack in packs]).filter(
        pk__in=ids
    ).delete()
    has_targets = connection.features.supports_update_conflicts_with_target
    PackScoreSnapshot.objects.bulk_create(
        rows,
        update_conflicts=True,
        update_fields=[*WRITTEN, *DESCRIBED, "updated_at"],
        unique_fields=["pack"] if has_targets else None,
    )
    return len(rows)


def _ensure_rows(ids: Sequence[str]) -> None:
    """Give every rankable pack a row to lock, and the counters that adopted packs may lack."""
    packs = rankable_packs().filter(pk__in=ids)
    unranked = packs.filter(snapshot=None).values_list("pk", flat=True)
    snapshots = [PackScoreSnapshot(pack_id=pk) for pk in unranked]
    PackScoreSnapshot.objects.bulk_create(snapshots, ignore_conflicts=True)
    uncounted = packs.filter(engagement=None).values_list("pk", flat=True)
    counters = [PackEngagement(pack_id=pk) for pk in uncounted]
    PackEngagement.objects.bulk_create(counters, ignore_conflicts=True)


def _compute(packs: Sequence[StickerPack], *, now: datetime) -> list[PackScoreSnapshot]:
    ids = [pack.pk for pack in packs]
    items = _items_by_pack(ids)
    engagement = PackEngagement.objects.in_bulk(ids)
    stats = _interaction_stats(ids, now=now)
    weights = current_weights()
    return [
        _snapshot(
            pack,
            items[pack.pk],
            engagement.get(pack.pk),
            stats.get(pack.pk, {}),
            weights=weights,
            now=now,
        )
        for pack in packs
    ]


def _snapshot(
    pack: StickerPack,
    items: Sequence[_Item],
    engagement: PackEngagement | None,
    stats: Mapping[str, Any],
    *,
    weights: Mapping[str, Any] | None,
    now: datetime,
) -> PackScoreSnapshot:
    classifications = [_classification(item) for item in items if item.is_classified]
    summary = scoring.pack_summary(classifications, [item.sticker_id for item in items])
    signals = scoring.pack_signals(
        pack={
            "items": [{"asset": _measures(item)} for item in items],
            "updated_at": pack.updated_at,
            "created_at": pack.created_at,
        },
        engagement=_counters(engagement),
        pack_classification=summary,
        item_classifications=classifications,
        interaction_stats=stats,
        scoring_weights=weights,
        now=now,
    )
    return PackScoreSnapshot(
        pack_id=pack.pk,
        sticker_count=len(items),
        tags=summary.get("tags", [])[:MAX_TAGS],
        scores_json=signals,
        source_version=SOURCE_VERSION,
        refreshed_at=now,
        **{name: signals[name] for name in WRITTEN},
    )


def _items_by_pack(ids: Sequence[str]) -> Mapping[str, list[_Item]]:
    items: dict[str, list[_Item]] = defaultdict(list)
    rows = StickerPackItem.objects.filter(pack__in=ids).order_by("pack_id", "position")
    for row in rows.values_list(*_ITEM_COLUMNS).iterator(chunk_size=5000):
        items[row[0]].append(_Item(*row))
    return items


def _interaction_stats(ids: Sequence[str], *, now: datetime) -> Mapping[str, Mapping[str, Any]]:
    opens = InteractionEvent.objects.filter(
        pack__in=ids, interaction=Interaction.OPEN, created_at__gte=now - BASELINE
    )
    counted = opens.values("pack_id").annotate(
        open_baseline=Count("pk"),
        open_horizon=Count("pk", filter=Q(created_at__gte=now - HORIZON)),
    )
    return {row["pack_id"]: row for row in counted.order_by()}


def _classification(item: _Item) -> dict[str, Any]:
    return {
        "category": item.category,
        "all_scores": item.all_scores or {},
        "nsfw_score": None if item.nsfw_score is None else float(item.nsfw_score),
        "is_nsfw": item.is_nsfw,
    }


def _measures(item: _Item) -> dict[str, Any]:
    return {"width": item.width, "height": item.height, "size_bytes": item.size_bytes}


def _counters(engagement: PackEngagement | None) -> dict[str, int]:
    if engagement is None:
        return {}
    return {
        "open_count": engagement.open_count,
        "like_count": engagement.like_count,
        "dislike_count": engagement.dislike_count,
    }
