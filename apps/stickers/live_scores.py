"""The scores of packs from what the tables hold at this moment.

Snapshots store them; pages compute them for the packs that they show while snapshots are not read.
Four queries however many packs: the packs with their counters, their stickers, their visitors, and
the weights of the score.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from django.db import connection
from django.db.models import Count, Q, QuerySet

from apps.common.dialects import as_json
from apps.stickers.bulk_scoring import PackRow, PackScores, StickerColumns, score_packs
from apps.stickers.choices import Interaction
from apps.stickers.models import InteractionEvent, StickerPack, StickerPackItem
from apps.stickers.queries import current_weights

HORIZON, BASELINE = timedelta(hours=24), timedelta(days=7)

_PACK_COLUMNS = (
    "pk",
    "updated_at",
    "created_at",
    "engagement__like_count",
    "engagement__open_count",
    "engagement__dislike_count",
    "moderation__is_sensitive",
)
_STICKER_COLUMNS = (
    "pack_id",
    "sticker__width",
    "sticker__height",
    "sticker__size_bytes",
    "sticker__classification__is_nsfw",
    "sticker__classification__nsfw_score",
    "sticker__classification__category",
    "sticker__classification__all_scores",
)


def pack_scores(packs: QuerySet[StickerPack], *, now: datetime) -> dict[str, PackScores]:
    """The scores of each of these packs by their id."""
    rows = list(packs.order_by("pk").values_list(*_PACK_COLUMNS))
    ids = [row[0] for row in rows]
    if not ids:
        return {}
    visits = _visits(ids, now=now)
    inputs = [
        PackRow(
            pk,
            changed_at or created_at,
            likes or 0,
            opens or 0,
            dislikes or 0,
            *visits.get(pk, (0, 0)),
            is_marked_sensitive=bool(is_marked),
        )
        for pk, changed_at, created_at, likes, opens, dislikes, is_marked in rows
    ]
    weights = current_weights()
    scored = score_packs(inputs, _stickers(ids), now=now, scoring_weights=weights)
    return dict(zip(ids, scored, strict=True))


def _visits(ids: Sequence[str], *, now: datetime) -> Mapping[str, tuple[int, int]]:
    """Opens of the last day and of the last week, for the packs that had any."""
    opens = InteractionEvent.objects.filter(
        pack__in=ids, interaction=Interaction.OPEN, created_at__gte=now - BASELINE
    )
    counted = opens.values("pack_id").annotate(
        horizon=Count("pk", filter=Q(created_at__gte=now - HORIZON)), baseline=Count("pk")
    )
    return {row["pack_id"]: (row["horizon"], row["baseline"]) for row in counted.order_by()}


def _stickers(ids: Sequence[str]) -> StickerColumns:
    """The stickers of these packs in the order of the ids, as the database sorts both."""
    items = StickerPackItem.objects.filter(pack__in=ids).order_by("pack_id", "position")
    rows = _raw_rows(items.values_list(*_STICKER_COLUMNS))
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(_STICKER_COLUMNS)
    names, width, height, size, is_nsfw, nsfw, category, scores = columns
    place = {pk: index for index, pk in enumerate(ids)}
    return StickerColumns(
        pack_index=np.array([place[pk] for pk in names], dtype=np.int64),
        width=_floats(width),
        height=_floats(height),
        size_bytes=_floats(size),
        scores=[
            None if flag is None else (found if isinstance(found, dict) else {})
            for flag, found in zip(is_nsfw, _parsed(scores), strict=True)
        ],
        categories=category,
        nsfw_scores=[None if score is None else float(score) for score in nsfw],
        is_nsfw=[bool(flag) for flag in is_nsfw],
    )


def _raw_rows(rows: QuerySet[Any, Any]) -> Sequence[tuple[Any, ...]]:
    """The rows as the driver gives them; Django's conversions cost as much as the query itself."""
    sql, parameters = rows.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        found: Sequence[tuple[Any, ...]] = cursor.fetchall()
        return found


def _floats(values: Sequence[Any]) -> Any:
    return np.array([value or 0 for value in values], dtype=float)


def _parsed(documents: Sequence[Any]) -> list[Any]:
    """A JSON column, parsed at once where it comes as text."""
    if all(document is None or isinstance(document, str) for document in documents):
        return list(json.loads(f"[{','.join(document or 'null' for document in documents)}]"))
    return [as_json(document) for document in documents]
