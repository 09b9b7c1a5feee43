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
CATALOGUE_CACHE_SECONDS = env.env_int(
    "CATALOGUE_CACHE_SECONDS",
    3,
    low=0,
    high=600,
    help="How long a list of the catalogue is kept for everybody; 0 reads it each time.",
)
CATALOGUE_STATS_CACHE_SECONDS = env.env_int(
    "CATALOGUE_STATS_CACHE_SECONDS",
    60,
    low=0,
    high=3600,
    help="How long totals and the ranking of creators are kept; 0 counts them each time.",
)
ENGAGEMENT_RATE = env.env_str(
    "ENGAGEMENT_RATE", "60/min", help="Opens, likes and dislikes of one address, as N/period."
)
ENGAGEMENT_OPENS_PER_HOUR = env.env_int(
    "ENGAGEMENT_OPENS_PER_HOUR",
    10,
    low=1,
    high=1000,
    help="Opens of one pack by one visitor that count within an hour.",
)
ENGAGEMENT_VISITORS_PER_ADDRESS = env.env_int(
    "ENGAGEMENT_VISITORS_PER_ADDRESS",
    20,
    low=1,
    high=10_000,
    help="Visitors of one address whose opinion of a pack counts within a day.",
)
REPORT_RATE = env.env_str("REPORT_RATE", "10/hour", help="Reports of one address, as N/period.")
INTERACTION_RETENTION_DAYS = env.env_int(
    "INTERACTION_RETENTION_DAYS",
    90,
    low=8,
    high=3650,
    help="How long single opens of packs are kept; counters stay.",
)
