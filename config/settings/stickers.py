"""Sticker packs, files and ranking."""

from apps.common import env

env.section("Stickers")
STICKER_PACK_MAX_ITEMS = env.env_int(
    "STICKER_PACK_MAX_ITEMS", 30, low=3, high=30, help="Stickers in one pack; WhatsApp allows 30."
)
STICKER_PACK_MAX_PACKS_PER_OWNER = env.env_int(
    "STICKER_PACK_MAX_PACKS_PER_OWNER",
    50,
    low=0,
    high=100_000,
    help="Packs of one author, drafts included; 0 sets no limit.",
)
STICKER_AUTO_PACK_NAME = env.env_str(
    "STICKER_AUTO_PACK_NAME", "pack", help="Name of the packs that collect an author's stickers."
)
STICKER_DRAFT_HOURS = env.env_int(
    "STICKER_DRAFT_HOURS", 24, low=1, high=8760, help="Life of an untouched draft without stickers."
)
STICKER_DELETED_PACK_DAYS = env.env_int(
    "STICKER_DELETED_PACK_DAYS",
    30,
    low=1,
    high=3650,
    help="How long a deleted pack keeps its stickers; then those no pack shows are removed.",
)
STICKER_UPLOAD_STUCK_SECONDS = env.env_int(
    "STICKER_UPLOAD_STUCK_SECONDS",
    120,
    low=30,
    high=3600,
    help="Age from which an upload in work counts as abandoned and is tried again.",
)
STICKER_ASSET_CACHE_SECONDS = env.env_int(
    "STICKER_ASSET_CACHE_SECONDS",
    31_536_000,
    low=0,
    high=31_536_000,
    help="How long browsers keep a sticker; its address names its content, so it never changes.",
)
SNAPSHOT_MAX_AGE_SECONDS = env.env_int(
    "SNAPSHOT_MAX_AGE_SECONDS",
    21_600,
    low=60,
    high=604_800,
    help="Age from which a score snapshot is computed anew.",
)
