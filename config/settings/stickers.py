"""Sticker packs, files and ranking."""

from urllib.parse import urlsplit

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
SNAPSHOT_REFRESH_THREADS = env.env_int(
    "SNAPSHOT_REFRESH_THREADS",
    2,
    low=1,
    high=8,
    help="Connections on which a rebuild refreshes snapshots at once; SQLite always takes one.",
)

env.section("Classification of stickers")
CLASSIFIER_URL = env.env_url(
    "CLASSIFIER_URL",
    "",
    help="Address of a classifier service (`POST` of a file); empty: the built-in classifier.",
)
CLASSIFIER_TOKEN = env.env_str(
    "CLASSIFIER_TOKEN", "", secret=True, help="Bearer token of the classifier service."
)
CLASSIFIER_VERSION = env.env_str(
    "CLASSIFIER_VERSION",
    "v1",
    help="Name of the service's model; a new one has every sticker classified again.",
)
CLASSIFIER_TIMEOUT_SECONDS = env.env_float(
    "CLASSIFIER_TIMEOUT_SECONDS",
    3.0,
    low=0.5,
    high=120.0,
    help="How long one answer may take, from its first byte to its last.",
)
CLASSIFIER_ATTEMPTS = env.env_int(
    "CLASSIFIER_ATTEMPTS",
    3,
    low=1,
    high=10,
    help="How often one call is made when the service is busy (429, 502, 503, 504) or unreachable.",
)
CLASSIFIER_CONCURRENCY = env.env_int(
    "CLASSIFIER_CONCURRENCY", 4, low=1, high=16, help="Stickers asked about at the same time."
)
CLASSIFIER_NSFW_THRESHOLD = env.env_float(
    "CLASSIFIER_NSFW_THRESHOLD",
    0.0,
    low=0.0,
    high=1.0,
    help="From where the service flags a sticker as sensitive; 0 leaves it to the service.",
)
CLASSIFICATION_BATCH_SIZE = env.env_int(
    "CLASSIFICATION_BATCH_SIZE",
    300,
    low=1,
    high=2000,
    help="New stickers in one classification cycle.",
)
REPROCESS_MAX_PER_CYCLE = env.env_int(
    "REPROCESS_MAX_PER_CYCLE",
    300,
    low=0,
    high=2000,
    help="Stickers classified again in one cycle; 0 pauses it.",
)
SEMANTIC_PASS_MAX = env.env_int(
    "SEMANTIC_PASS_MAX",
    2000,
    low=0,
    high=20_000,
    help="Doubtful classifications judged by their words in one cycle; 0 pauses it.",
)
DRIFT_SENSITIVITY = env.env_float(
    "DRIFT_SENSITIVITY",
    1.0,
    low=0.5,
    high=2.5,
    help="How strongly a shift of categories within a month moves the weights of the pack score.",
)
DRIFT_REFRESH_SECONDS = env.env_int(
    "DRIFT_REFRESH_SECONDS",
    600,
    low=30,
    high=86_400,
    help="Age from which the shift of categories is measured anew.",
)
TREND_SHIFT_FROM = env.env_float(
    "TREND_SHIFT_FROM",
    0.2,
    low=0.01,
    high=1.0,
    help="Shift from which stickers of the categories that gained are classified again.",
)

env.section("Automatic packs")
CURATION_ENABLED = env.env_bool(
    "CURATION_ENABLED", True, help="Whether automatic packs are made from classified stickers."
)
CURATION_OWNERS = env.env_list(
    "CURATION_OWNERS", ["auto@pombo"], help="JIDs that automatic packs belong to, in this order."
)
CURATION_PUBLISHER = env.env_str(
    "CURATION_PUBLISHER", "Pombo Auto", help="Publisher shown on automatic packs."
)
CURATION_TARGET_SIZE = env.env_int(
    "CURATION_TARGET_SIZE", 30, low=5, high=30, help="Stickers in a full automatic pack."
)
CURATION_MIN_ITEMS = env.env_int(
    "CURATION_MIN_ITEMS", 12, low=3, high=30, help="Stickers below which no pack is made or kept."
)
CURATION_READY_ITEMS = env.env_int(
    "CURATION_READY_ITEMS", 20, low=3, high=30, help="Stickers from which a pack is published."
)
CURATION_PACKS_PER_THEME = env.env_int(
    "CURATION_PACKS_PER_THEME", 1, low=1, high=10, help="Volumes that one theme may have."
)
CURATION_MAX_PACKS = env.env_int(
    "CURATION_MAX_PACKS", 300, low=0, high=10_000, help="Automatic packs altogether."
)
CURATION_PACKS_PER_OWNER = env.env_int(
    "CURATION_PACKS_PER_OWNER", 50, low=1, high=10_000, help="Packs of one owner of the pool."
)
CURATION_MAX_ADDITIONS = env.env_int(
    "CURATION_MAX_ADDITIONS", 300, low=10, high=2000, help="Stickers added in one run."
)
CURATION_MAX_REMOVALS = env.env_int(
    "CURATION_MAX_REMOVALS",
    120,
    low=0,
    high=500,
    help="Stickers removed in one run; sensitive and private ones leave beyond it.",
)
CURATION_PASSES = env.env_int(
    "CURATION_PASSES", 3, low=1, high=9, help="How often a sticker is judged, each time with noise."
)
CURATION_SCAN_LIMIT = env.env_int(
    "CURATION_SCAN_LIMIT",
    20_000,
    low=100,
    high=200_000,
    help="Newest stickers looked at in one run, besides those in automatic packs.",
)
CURATION_USES_CLUSTERS = env.env_bool(
    "CURATION_USES_CLUSTERS", True, help="Whether semantic clusters come before labels as themes."
)
CURATION_NEEDS_APPROVAL = env.env_bool(
    "CURATION_NEEDS_APPROVAL",
    False,
    help="Whether an operator must approve an automatic pack before it is published.",
)

env.section("Object storage")
OBJECT_STORAGE_BUCKET = env.env_str(
    "OBJECT_STORAGE_BUCKET", "", help="Bucket for copies of stickers; empty keeps them here only."
)
OBJECT_STORAGE_ENDPOINT = env.env_url(
    "OBJECT_STORAGE_ENDPOINT", "", help="Address of an S3-compatible server; empty means AWS."
)
OBJECT_STORAGE_REGION = env.env_str(
    "OBJECT_STORAGE_REGION", "us-east-1", help="Region of the bucket."
)
OBJECT_STORAGE_ACCESS_KEY_ID = env.env_str(
    "OBJECT_STORAGE_ACCESS_KEY_ID", "", help="Key id; empty uses the machine's own role."
)
OBJECT_STORAGE_SECRET_ACCESS_KEY = env.env_str(
    "OBJECT_STORAGE_SECRET_ACCESS_KEY", "", secret=True, help="The key's secret."
)
OBJECT_STORAGE_PATH_STYLE = env.env_bool(
    "OBJECT_STORAGE_PATH_STYLE", True, help="The bucket in the path, not in the host name."
)
OBJECT_STORAGE_KEY_PREFIX = env.env_str(
    "OBJECT_STORAGE_KEY_PREFIX", "stickers", help="First part of every key."
)
OBJECT_STORAGE_TIMEOUT_SECONDS = env.env_int(
    "OBJECT_STORAGE_TIMEOUT_SECONDS", 5, low=1, high=60, help="Patience with the storage."
)
OBJECT_STORAGE_SIGNED_URL_SECONDS = env.env_int(
    "OBJECT_STORAGE_SIGNED_URL_SECONDS", 300, low=60, high=3600, help="Life of a signed address."
)
OBJECT_STORAGE_CDN_URL = env.env_url(
    "OBJECT_STORAGE_CDN_URL", "", help="Address of a CDN before the bucket; not for sensitive ones."
)
OBJECT_STORAGE_CDN_KEY_ID = env.env_str(
    "OBJECT_STORAGE_CDN_KEY_ID",
    "",
    help="CloudFront key that signs CDN addresses; empty: unsigned.",
)
OBJECT_STORAGE_CDN_PRIVATE_KEY_FILE = env.env_str(
    "OBJECT_STORAGE_CDN_PRIVATE_KEY_FILE", "", help="File of that key, PEM."
)


def _picture_origins() -> list[str]:
    """The hosts that pages may load pictures from, beside our own."""
    if not OBJECT_STORAGE_BUCKET:
        return []
    regional = f"https://s3.{OBJECT_STORAGE_REGION}.amazonaws.com"
    servers = [OBJECT_STORAGE_ENDPOINT] if OBJECT_STORAGE_ENDPOINT else [regional]
    servers += [] if OBJECT_STORAGE_ENDPOINT else ["https://s3.amazonaws.com"]
    parts = [urlsplit(server) for server in servers]
    bucket = "" if OBJECT_STORAGE_PATH_STYLE else f"{OBJECT_STORAGE_BUCKET}."
    origins = [f"{part.scheme}://{bucket}{part.netloc}" for part in parts]
    if OBJECT_STORAGE_CDN_URL:
        cdn = urlsplit(OBJECT_STORAGE_CDN_URL)
        origins.append(f"{cdn.scheme}://{cdn.netloc}")
    return origins


PICTURE_ORIGINS = _picture_origins()
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
