"""Score snapshots: the rows by which the catalogue is ranked.

A refresh locks its snapshot rows, then reads its inputs, so that a late refresh never overwrites a
newer one with older inputs. It takes a constant number of queries however many packs it is given.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.db.models.constants import OnConflict

from apps.common.dialects import retry_deadlocks
from apps.common.fields import now_seconds
from apps.stickers.bulk_scoring import PackScores
from apps.stickers.live_scores import BASELINE, pack_scores
from apps.stickers.models import InteractionEvent, PackEngagement, PackScoreSnapshot, PackTag
from apps.stickers.queries import rankable_packs

BATCH_SIZE = 500
STALE_LIMIT = 5_000
SOURCE_VERSION = "v1"
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


def refresh_snapshots(pack_ids: Iterable[str], *, now: datetime) -> int:
    """Recompute the snapshots of these packs; those that may not be ranked lose theirs.

    Tells how many were written. Running it twice writes the same rows.
    """
    ids = sorted(set(pack_ids))
    batches = [ids[start : start + BATCH_SIZE] for start in range(0, len(ids), BATCH_SIZE)]
    threads = min(settings.SNAPSHOT_REFRESH_THREADS, len(batches))
    if threads < 2 or connection.in_atomic_block or connection.vendor == "sqlite":  # noqa: PLR2004
        return _refresh_batches(batches, now=now)
    # While one batch waits for the database, the other is computed.
    with ThreadPoolExecutor(threads) as pool:
        shares = [batches[first::threads] for first in range(threads)]
        return sum(pool.map(lambda share: _refresh_on_own_connection(share, now=now), shares))


def _refresh_on_own_connection(batches: Sequence[Sequence[str]], *, now: datetime) -> int:
    try:
        return _refresh_batches(batches, now=now)
    finally:
        connection.close()


def _refresh_batches(batches: Sequence[Sequence[str]], *, now: datetime) -> int:
    return sum(retry_deadlocks(partial(_refresh_batch, batch, now=now)) for batch in batches)


def refresh_stale(*, now: datetime, limit: int = STALE_LIMIT) -> int:
    """Recompute missing snapshots first, then the oldest ones past their age; drop the unrankable.

    A snapshot is stale after `SNAPSHOT_MAX_AGE_SECONDS`, and after an hour while its pack had
    visitors within seven days, since trend and decay move with time.
    """
    PackScoreSnapshot.objects.exclude(pack__in=rankable_packs()).delete()
    PackTag.objects.exclude(pack__in=rankable_packs()).delete()
    missing = rankable_packs().filter(snapshot=None).order_by("pk")
    chosen = list(missing.values_list("pk", flat=True)[:limit])
    stale = stale_snapshots(now).order_by("refreshed_at", "pk")
    chosen += stale.values_list("pk", flat=True)[: limit - len(chosen)]
    return refresh_snapshots(chosen, now=now)


def stale_snapshots(now: datetime) -> QuerySet[PackScoreSnapshot]:
    """Snapshots past their age: an hour with visitors within seven days, else the setting."""
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
    held = list(locked.values_list("pk", flat=True))
    scores = pack_scores(rankable_packs().filter(pk__in=held), now=now)
    gone = [pk for pk in held if pk not in scores]
    if gone:
        PackScoreSnapshot.objects.filter(pk__in=gone).delete()
    _write(scores, now=now)
    _write_tags(held, scores)
    return len(scores)


def _ensure_rows(ids: Sequence[str]) -> None:
    """Give every rankable pack a row to lock, and the counters that adopted packs may lack."""
    packs = rankable_packs().filter(pk__in=ids).filter(Q(snapshot=None) | Q(engagement=None))
    rows = list(packs.values_list("pk", "snapshot__pk", "engagement__pk"))
    unranked = [PackScoreSnapshot(pack_id=pk) for pk, ranked, _counted in rows if not ranked]
    PackScoreSnapshot.objects.bulk_create(unranked, ignore_conflicts=True)
    uncounted = [PackEngagement(pack_id=pk) for pk, _ranked, counted in rows if not counted]
    PackEngagement.objects.bulk_create(uncounted, ignore_conflicts=True)


def _write(scores: Mapping[str, PackScores], *, now: datetime) -> None:
    """Upsert all rows in one statement; through the ORM it takes longer than the formulas."""
    if not scores:
        return
    ops, table = connection.ops, PackScoreSnapshot._meta.db_table
    moment = ops.adapt_datetimefield_value(now.replace(microsecond=0))
    written_at = ops.adapt_datetimefield_value(now_seconds())
    changed = (*WRITTEN, *DESCRIBED, "updated_at")
    columns = ("pack_id", *changed, "created_at")
    suffix = ops.on_conflict_suffix_sql((), OnConflict.UPDATE, changed, ("pack_id",))
    row = f"({', '.join(['%s'] * len(columns))})"
    rows = ", ".join([row] * len(scores))
    sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES {rows} {suffix}"  # noqa: S608 (names only)
    values: list[Any] = []
    for pack_id, found in scores.items():
        values += (pack_id, *(found.signals[name] for name in WRITTEN), found.sticker_count)
        values += (json.dumps(found.tags[:MAX_TAGS]), json.dumps(found.signals), SOURCE_VERSION)
        values += (moment, written_at, written_at)
    with connection.cursor() as cursor:
        cursor.execute(sql, values)


def _write_tags(pack_ids: Sequence[str], scores: Mapping[str, PackScores]) -> None:
    """Make the rows of tags equal to the snapshots; where nothing changed, nothing is written."""
    wanted = {(pk, tag) for pk, found in scores.items() for tag in found.tags}
    rows = PackTag.objects.filter(pack__in=pack_ids).values_list("pack_id", "tag", "pk")
    stored = {(pack_id, tag): pk for pack_id, tag, pk in rows}
    lost = [pk for key, pk in stored.items() if key not in wanted]
    if lost:
        PackTag.objects.filter(pk__in=lost).delete()
    missing = sorted(wanted - stored.keys())
    PackTag.objects.bulk_create(
        (PackTag(pack_id=pk, tag=tag) for pk, tag in missing), ignore_conflicts=True
    )
