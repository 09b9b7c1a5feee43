"""The operator's pages of the sticker service."""

from apps.stickers.admin import engagement, packs, queues, storage

__all__ = ["engagement", "packs", "queues", "storage"]
