"""Asking for stickers to be classified again: the rows of the reprocess queue.

An automatic search never asks twice: not while a request is open, not after it died (an operator
decides then), and not within a week after it was done.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Case, Count, Exists, F, Max, OuterRef, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce

from apps.stickers.choices import CurationStatus, LeaseStatus, ReprocessReason, Visibility
from apps.stickers.classifier import BUILT_IN, Classifier
from apps.stickers.models import AssetClassification, ReprocessTask, StickerAsset
from apps.stickers.scoring import NSFW_EXPLICIT_FROM, NSFW_SUGGESTIVE_FROM

UNFINISHED = (LeaseStatus.PENDING, LeaseStatus.PROCESSING, LeaseStatus.FAILED)
PRIORITY = {
    ReprocessReason.NSFW_REVIEW: 85,
    ReprocessReason.LOW_CONFIDENCE: 70,
    ReprocessReason.MODEL_UPGRADE: 60,
    ReprocessReason.TREND_SHIFT: 50,
}
BACKFILL_PRIORITY = 95
# With the pauses of `reprocessing.RETRY` a service may be away for five hours.
MAX_ATTEMPTS = 10
UPGRADE_LIMIT, BACKFILL_LIMIT, LOW_CONFIDENCE_LIMIT = 350, 300, 250
TREND_LIMIT, REVIEW_LIMIT = 100, 100
LOW_CONFIDENCE_BELOW = 0.65
LEFT_ALONE_FOR = timedelta(hours=48)
NOT_AGAIN_WITHIN = timedelta(days=7)
# A score so close below a threshold may as well lie above it.
REVIEW_MARGIN = 0.05
SIGNALS = (
    "category",
    "confidence",
    "entropy",
    "confidence_margin",
    "affinity_weight",
    "image_hash",
    "all_scores",
    "top_labels",
    "llm_subtags",
    "llm_style_traits",
    "llm_emotions",
    "llm_pack_suggestions",
    "semantic_cluster_id",
    "semantic_cluster_slug",
)


def enqueue_reprocess(
    asset_ids: Sequence[str], reason: ReprocessReason, *, priority: int | None = None
) -> int:
    """Ask for these stickers to be classified again; tells how many requests are new.

    The stickers' rows are locked, so that two callers never ask for the same twice (Q5).
    """
    with transaction.atomic():
        locked = StickerAsset.objects.select_for_update().filter(pk__in=asset_ids).order_by("pk")
        ids = list(locked.values_list("pk", flat=True))
        is_open = ReprocessTask.objects.filter(asset__in=ids, reason=reason, status__in=UNFINISHED)
        taken = set(is_open.values_list("asset_id", flat=True))
        tasks = [
            ReprocessTask(
                asset_id=pk,
                reason=reason,
                priority=priority or PRIORITY[reason],
                max_attempts=MAX_ATTEMPTS,
            )
            for pk in ids
            if pk not in taken
        ]
        ReprocessTask.objects.bulk_create(tasks)
    return len(tasks)


def enqueue_outdated(classifier: Classifier, *, now: datetime) -> int:
    """MODEL_UPGRADE: what another version classified, or the built-in one before the service."""
    is_outdated = ~Q(classification_version=classifier.version)
    if classifier.tells_words:
        is_outdated |= Q(provider=BUILT_IN)
    reason = ReprocessReason.MODEL_UPGRADE
    rows = _candidates(reason, now=now).filter(is_outdated).order_by("updated_at", "pk")
    return enqueue_reprocess(_ids(rows, UPGRADE_LIMIT), reason)


def enqueue_incomplete(classifier: Classifier, *, now: datetime) -> int:
    """MODEL_UPGRADE: rows that lack signals, most missing first, then those seen most.

    Only a classifier that tells words can fill them.
    """
    if not classifier.tells_words:
        return 0
    reason = ReprocessReason.MODEL_UPGRADE
    missing = sum(
        (
            Case(When(**{f"{name}__isnull": True}, then=Value(1)), default=Value(0))
            for name in SIGNALS
        ),
        start=Value(0),
    )
    ready = Q(asset__pack_items__pack__pack_status=CurationStatus.READY)
    public = Q(asset__pack_items__pack__visibility=Visibility.PUBLIC)
    likes = Coalesce(F("asset__pack_items__pack__engagement__like_count"), 0)
    opens = Coalesce(F("asset__pack_items__pack__engagement__open_count"), 0)
    rows = (
        _candidates(reason, now=now)
        .filter(updated_at__lt=now - LEFT_ALONE_FOR)
        .annotate(missing_count=missing)
        .filter(missing_count__gt=0)
        .annotate(
            ready_count=Count("pk", filter=ready),
            public_count=Count("pk", filter=public),
            engaged=Max(likes + opens * 0.02),
            pack_count=Count("asset__pack_items"),
        )
        .order_by(
            "-missing_count",
            "-ready_count",
            "-public_count",
            "-engaged",
            "-pack_count",
            "updated_at",
        )
    )
    return enqueue_reprocess(_ids(rows, BACKFILL_LIMIT), reason, priority=BACKFILL_PRIORITY)


def enqueue_unsure(*, now: datetime) -> int:
    """LOW_CONFIDENCE: what was classified weakly and left alone for two days, weakest first."""
    reason = ReprocessReason.LOW_CONFIDENCE
    rows = _candidates(reason, now=now).filter(
        confidence__lt=LOW_CONFIDENCE_BELOW, updated_at__lt=now - LEFT_ALONE_FOR
    )
    ids = _ids(rows.order_by("confidence", "pk"), LOW_CONFIDENCE_LIMIT)
    return enqueue_reprocess(ids, reason)


def enqueue_trending(categories: Sequence[str], *, now: datetime) -> int:
    """TREND_SHIFT: stickers of the categories that gained, those judged longest ago first."""
    reason = ReprocessReason.TREND_SHIFT
    rows = _candidates(reason, now=now).filter(
        category__in=categories, updated_at__lt=now - LEFT_ALONE_FOR
    )
    return enqueue_reprocess(_ids(rows.order_by("updated_at", "pk"), TREND_LIMIT), reason)


def enqueue_doubtful_content(*, now: datetime) -> int:
    """NSFW_REVIEW: where flag and score contradict each other, or a score lies by a threshold."""
    score = "nsfw_score"
    contradicts = Q(is_nsfw=True, nsfw_score__lt=NSFW_SUGGESTIVE_FROM) | Q(
        is_nsfw=False, nsfw_score__gte=NSFW_EXPLICIT_FROM
    )
    close = Q(pk=None)
    for threshold in (NSFW_SUGGESTIVE_FROM, NSFW_EXPLICIT_FROM):
        bounds = {f"{score}__gte": threshold - REVIEW_MARGIN, f"{score}__lt": threshold}
        close |= Q(**bounds)
    reason = ReprocessReason.NSFW_REVIEW
    rows = _candidates(reason, now=now).filter(contradicts | close)
    return enqueue_reprocess(_ids(rows.order_by("-nsfw_score", "pk"), REVIEW_LIMIT), reason)


def _candidates(reason: ReprocessReason, *, now: datetime) -> QuerySet[AssetClassification]:
    """Classifications that nobody has asked about for this reason lately."""
    asked = ReprocessTask.objects.filter(asset=OuterRef("pk"), reason=reason).filter(
        Q(status__in=UNFINISHED) | Q(processed_at__gte=now - NOT_AGAIN_WITHIN)
    )
    return AssetClassification.objects.exclude(Exists(asked))


def _ids(rows: QuerySet[Any], limit: int) -> list[str]:
    return list(rows.values_list("pk", flat=True)[:limit])
