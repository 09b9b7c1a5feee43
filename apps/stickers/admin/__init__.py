"""The operator's pages of the sticker service."""

from apps.stickers.admin import classification, curation, engagement, packs, queues, storage

__all__ = ["classification", "curation", "engagement", "packs", "queues", "storage"]
