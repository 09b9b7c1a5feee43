"""Feature flags."""

from apps.common import env

env.section("Flags")
FEATURE_FLAG_CACHE_TTL_MS = env.env_int(
    "FEATURE_FLAG_CACHE_TTL_MS",
    30_000,
    low=5_000,
    high=3_600_000,
    help="How long a process trusts its copy of the flags, in milliseconds.",
)
