"""All tables of the sticker service."""

from apps.stickers.models.assets import AssetClassification, StickerAsset
from apps.stickers.models.engagement import InteractionEvent, PackEngagement, PackScoreSnapshot
from apps.stickers.models.moderation import (
    ModerationDecision,
    PackModeration,
    PackReport,
    PackTag,
)
from apps.stickers.models.packs import PackWebUpload, StickerPack, StickerPackItem
from apps.stickers.models.queues import ReprocessTask, WorkerTask, WorkerTaskDeadLetter
from apps.stickers.models.themes import ThemeCluster, ThemeSuggestion

__all__ = [
    "AssetClassification",
    "InteractionEvent",
    "ModerationDecision",
    "PackEngagement",
    "PackModeration",
    "PackReport",
    "PackScoreSnapshot",
    "PackTag",
    "PackWebUpload",
    "ReprocessTask",
    "StickerAsset",
    "StickerPack",
    "StickerPackItem",
    "ThemeCluster",
    "ThemeSuggestion",
    "WorkerTask",
    "WorkerTaskDeadLetter",
]
