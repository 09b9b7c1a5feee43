"""Classifying stickers: asking a classifier, and writing down what it says with its event.

A sticker that no classifier can read gets a fallback row. One that the classifier service failed on
goes to the reprocess queue, where its attempts are counted: neither stops the others.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef

from apps.common.errors import Unavailable
from apps.common.fields import now_seconds
from apps.outbox.services import publish
from apps.stickers.choices import ReprocessReason
from apps.stickers.classifier import Classification, Classifier
from apps.stickers.errors import (
    ClassifierMisconfigured,
    StickerFileMissing,
    StickerNotClassifiable,
)
from apps.stickers.models import AssetClassification, ReprocessTask, StickerAsset
from apps.stickers.services import fingerprinting, reprocess_requests, themes
from apps.stickers.services.classifiers import current_classifier
from apps.stickers.storage import read_asset

logger = logging.getLogger(__name__)

CYCLE_LIMIT = 300
# So many failures in a row are not the stickers' fault.
SERVICE_IS_DOWN_AFTER = 3
INVALID_IMAGE = "invalid image"
UNREADABLE = Classification(
    provider="builtin",
    model_name="none",
    classification_version="v1",
    category=INVALID_IMAGE,
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
    postponed: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of asking about one sticker: an answer, or why there is none."""

    asset: StickerAsset
    result: Classification | None = None
    data: bytes = b""
    failure: Unavailable | None = None

    @property
    def is_unreadable(self) -> bool:
        """Whether no classifier can read the sticker."""
        return self.result is not None and self.result.category == INVALID_IMAGE


def classify_pending(
    *, now: datetime, classifier: Classifier | None = None, limit: int = CYCLE_LIMIT
) -> ClassificationReport:
    """Classify the oldest stickers without a classification.

    Raises ClassifierMisconfigured, and ClassifierUnavailable when the service fails on several
    stickers in a row; what was classified until then stays.
    """
    chosen = classifier or current_classifier()
    assets = list(_pending_assets()[: limit + 1])
    unreadable = postponed = failures_in_a_row = 0
    for outcome in ask(assets[:limit], chosen):
        if outcome.result is not None:
            failures_in_a_row = 0
            unreadable += outcome.is_unreadable
            store(outcome, outcome.result, now=now)
            continue
        postponed += reprocess_requests.enqueue_reprocess(
            [outcome.asset.pk], ReprocessReason.MODEL_UPGRADE, priority=95
        )
        failures_in_a_row += 1
        if failures_in_a_row >= SERVICE_IS_DOWN_AFTER and outcome.failure:
            raise outcome.failure
    classified = min(len(assets), limit) - postponed
    return ClassificationReport(classified, unreadable, len(assets) > limit, postponed)


def ask(assets: Sequence[StickerAsset], classifier: Classifier) -> Iterator[Outcome]:
    """Ask about each sticker, as many at a time as the classifier takes.

    Files are read here, where the database connection is; only the asking runs in threads. Raises
    ClassifierMisconfigured.
    """
    size = max(1, classifier.concurrency)
    with ThreadPoolExecutor(size) as threads:
        for start in range(0, len(assets), size):
            read = [_read(asset) for asset in assets[start : start + size]]
            if size == 1:
                yield from (_ask(outcome, classifier) for outcome in read)
            else:
                yield from threads.map(lambda outcome: _ask(outcome, classifier), read)


@transaction.atomic
def store(
    outcome: Outcome, result: Classification, *, now: datetime, replaces: bool = False
) -> bool:
    """Write a classification and its event; tells whether anything changed.

    Without `replaces` a row that is there stays: somebody else was faster. A fallback never takes
    the place of a classification.
    """
    asset = outcome.asset
    values = _columns(asset, themes.with_cluster(result))
    row, is_new = AssetClassification.objects.select_for_update().get_or_create(
        asset=asset, defaults={**values, "classified_at": now}
    )
    if outcome.data:
        fingerprinting.remember(asset, outcome.data)
    if is_new:
        _announce(asset, result)
        return True
    if not replaces or (outcome.is_unreadable and row.category != INVALID_IMAGE):
        return False
    is_changed = any(_differs(getattr(row, name), value) for name, value in values.items())
    AssetClassification.objects.filter(pk=asset.pk).update(
        **values, classified_at=now, updated_at=now_seconds()
    )
    if is_changed:
        _announce(asset, result)
    return is_changed


def _pending_assets() -> Any:
    """Stickers without a classification that nobody has put into the reprocess queue."""
    asked_again = ReprocessTask.objects.filter(asset=OuterRef("pk"))
    open_tasks = asked_again.filter(status__in=reprocess_requests.UNFINISHED)
    pending = StickerAsset.objects.filter(classification=None).exclude(Exists(open_tasks))
    return pending.order_by("created_at", "pk")


def _read(asset: StickerAsset) -> Outcome:
    try:
        return Outcome(asset, data=read_asset(asset))
    except Unavailable as error:
        return Outcome(asset, failure=error)
    except (StickerFileMissing, OSError) as error:
        return _unreadable(asset, error)


def _ask(outcome: Outcome, classifier: Classifier) -> Outcome:
    """The outcome with an answer; one that is settled already is handed on."""
    asset = outcome.asset
    if outcome.result or outcome.failure:
        return outcome
    try:
        result = classifier.classify(outcome.data, asset_id=asset.pk, sha256=asset.sha256)
    except StickerNotClassifiable as error:
        return _unreadable(asset, error)
    except ClassifierMisconfigured:
        raise
    except Unavailable as error:
        logger.warning("stickers.classifier_failed", extra={"asset_id": asset.pk}, exc_info=error)
        return Outcome(asset, failure=error)
    return Outcome(asset, result, outcome.data)


def _unreadable(asset: StickerAsset, error: Exception) -> Outcome:
    logger.warning(
        "stickers.unreadable", extra={"asset_id": asset.pk, "reason": type(error).__name__}
    )
    return Outcome(asset, UNREADABLE)


def _columns(asset: StickerAsset, result: Classification) -> dict[str, Any]:
    return {
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
        "image_hash": result.image_hash or asset.sha256,
        "ambiguous": result.ambiguous,
        "llm_subtags": list(result.subtags),
        "llm_style_traits": list(result.style_traits),
        "llm_emotions": list(result.emotions),
        "llm_pack_suggestions": list(result.pack_suggestions),
        "semantic_cluster_id": result.semantic_cluster_id,
        "semantic_cluster_slug": result.semantic_cluster_slug,
        "similar_images": [dict(similar) for similar in result.similar_images],
    }


def _differs(stored: Any, value: Any) -> bool:
    if isinstance(stored, Decimal) and isinstance(value, float):
        return abs(float(stored) - value) > 1e-6  # noqa: PLR2004 (the columns' precision)
    return bool(stored != value)


def _announce(asset: StickerAsset, result: Classification) -> None:
    announce_classified(
        asset.pk,
        {
            "category": result.category,
            "confidence": result.confidence,
            "nsfw_score": result.nsfw_score,
            "is_nsfw": result.is_nsfw,
            "classification_version": result.classification_version,
        },
    )


def announce_classified(asset_id: str, details: Mapping[str, Any]) -> None:
    """Publish that a classification is new or changed, in the caller's transaction."""
    payload = {"asset_id": asset_id, **details}
    publish("STICKER_CLASSIFIED", "sticker_asset", asset_id, payload, priority=80)
