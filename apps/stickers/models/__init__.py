"""All tables of the sticker service."""

from apps.stickers.models.assets import AssetClassification, StickerAsset
from apps.stickers.models.curation import AutoPack, AutoPackControl, CurationDecision, CurationRun
from apps.stickers.models.cycles import AssetFingerprint, CategoryDrift, CycleCursor
from apps.stickers.models.engagement import InteractionEvent, PackEngagement, PackScoreSnapshot
from apps.stickers.models.moderation import (
    ModerationDecision,
    PackModeration,
    PackReport,
    PackTag,
)
from apps.stickers.models.own import (
    ObjectStorageHealth,
    PackOwner,
    StoredObject,
    UploadSource,
)
from apps.stickers.models.packs import PackWebUpload, StickerPack, StickerPackItem
from apps.stickers.models.queues import ReprocessTask, WorkerTask, WorkerTaskDeadLetter
from apps.stickers.models.themes import ThemeCluster, ThemeSuggestion

__all__ = [
    "AssetClassification",
    "AssetFingerprint",
    "AutoPack",
    "AutoPackControl",
    "CategoryDrift",
    "CurationDecision",
    "CurationRun",
    "CycleCursor",
    "InteractionEvent",
    "ModerationDecision",
    "ObjectStorageHealth",
    "PackEngagement",
    "PackModeration",
    "PackOwner",
    "PackReport",
    "PackScoreSnapshot",
    "PackTag",
    "PackWebUpload",
    "ReprocessTask",
    "StickerAsset",
    "StickerPack",
    "StickerPackItem",
    "StoredObject",
    "ThemeCluster",
    "ThemeSuggestion",
    "UploadSource",
    "WorkerTask",
    "WorkerTaskDeadLetter",
]
