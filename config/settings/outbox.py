"""The outbox and its leases."""

from apps.common import env

env.section("Outbox")
OUTBOX_LEASE_SECONDS = env.env_int(
    "OUTBOX_LEASE_SECONDS", 60, low=3, high=3600, help="Life of a claim without a heartbeat."
)
