"""Sticker packs, files and ranking."""

from apps.common import env

env.section("Stickers")
STICKER_PACK_MAX_ITEMS = env.env_int(
    "STICKER_PACK_MAX_ITEMS", 30, low=3, high=30, help="Stickers in one pack; WhatsApp allows 30."
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
SNAPSHOT_REFRESH_THREADS = env.env_int(
    "SNAPSHOT_REFRESH_THREADS",
    2,
    low=1,
    high=8,
    help="Connections on which a rebuild refreshes snapshots at once; SQLite always takes one.",
)
