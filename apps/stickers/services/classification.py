"""Classifying stickers that have no classification yet, oldest first."""

import logging
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from apps.outbox.services import publish
from apps.stickers.classifier import Classification, Classifier, PixelClassifier
from apps.stickers.errors import StickerFileMissing
from apps.stickers.models import AssetClassification, StickerAsset
from apps.stickers.storage import read_asset

logger = logging.getLogger(__name__)

CYCLE_LIMIT = 300
UNREADABLE = Classification(
    provider="builtin",
    model_name="none",
    classification_version="v1",
    category="invalid image",
    confidence=0.0,
    entropy=0.0,
    confidence_margin=0.0,
    all_scores={},
    ambiguous=True,
    affinity_weight=0.0,
    subtags=("classification-failed", "decoder-error"),
)


@dataclass(frozen=True, slots=True)
class ClassificationReport:
    """What one cycle did; `has_more` asks for another."""

    classified: int
    unreadable: int
    has_more: bool


def classify_pending(
    *, now: datetime, classifier: Classifier | None = None, limit: int = CYCLE_LIMIT
) -> ClassificationReport:
    """Classify the oldest stickers without a classification.

    A sticker that cannot be read gets a fallback row, so that it does not come back every cycle.
    """
    chosen = classifier or PixelClassifier()
    pending = StickerAsset.objects.filter(classification=None).order_by("created_at", "pk")
    assets = list(pending[: limit + 1])
    unreadable = 0
    for asset in assets[:limit]:
        result = _classify(asset, chosen)
        unreadable += result is UNREADABLE
        _store(asset, result, now=now)
    return ClassificationReport(min(len(assets), limit), unreadable, len(assets) > limit)


def _classify(asset: StickerAsset, classifier: Classifier) -> Classification:
    try:
        return classifier.classify(read_asset(asset))
    except (StickerFileMissing, OSError, ValueError) as error:
        logger.warning(
            "stickers.unreadable", extra={"asset_id": asset.pk, "reason": type(error).__name__}
        )
        return UNREADABLE


@transaction.atomic
def _store(asset: StickerAsset, result: Classification, *, now: datetime) -> None:
    """Write the row and its event; a sticker that somebody else classified meanwhile is left."""
    _row, is_new = AssetClassification.objects.get_or_create(
        asset=asset,
        defaults={
            "provider": result.provider,
            "model_name": result.model_name,
            "classification_version": result.classification_version,
            "category": result.category,
            "confidence": result.confidence,
            "entropy": result.entropy,
            "confidence_margin": result.confidence_margin,
            "nsfw_score": result.nsfw_score,
            "is_nsfw": result.is_nsfw,
            "all_scores": dict(result.all_scores),
            "top_labels": [dict(label) for label in result.top_labels],
            "affinity_weight": result.affinity_weight,
            "image_hash": asset.sha256,
            "ambiguous": result.ambiguous,
            "llm_subtags": list(result.subtags),
            "classified_at": now,
        },
    )
    if is_new:
        _announce(asset, result)


def _announce(asset: StickerAsset, result: Classification) -> None:
    payload = {
        "asset_id": asset.pk,
        "category": result.category,
        "confidence": result.confidence,
        "nsfw_score": result.nsfw_score,
        "is_nsfw": result.is_nsfw,
        "classification_version": result.classification_version,
    }
    publish("STICKER_CLASSIFIED", "sticker_asset", asset.pk, payload, priority=80)
