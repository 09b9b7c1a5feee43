"""The outbox and its leases."""

from apps.common import env

env.section("Outbox")
OUTBOX_LEASE_SECONDS = env.env_int(
    "OUTBOX_LEASE_SECONDS", 60, low=3, high=3600, help="Life of a claim without a heartbeat."
)
OUTBOX_RETENTION_DAYS = env.env_int(
    "OUTBOX_RETENTION_DAYS", 14, low=1, high=3650, help="How long completed events are kept."
)
OUTBOX_OVERDUE_SECONDS = env.env_int(
    "OUTBOX_OVERDUE_SECONDS",
    300,
    low=10,
    high=86_400,
    help="Age of the oldest due event from which the platform is not ready.",
)
OUTBOX_EVENT_SOURCE = env.env_str(
    "OUTBOX_EVENT_SOURCE", "/pombo", help="CloudEvents source: a URI that names this installation."
)
WEBHOOK_ALLOWED_NETWORKS = env.env_list(
    "WEBHOOK_ALLOWED_NETWORKS",
    [],
    help="Networks (CIDR) that webhooks may reach though private, also without TLS.",
)
WEBHOOK_DISABLE_AFTER_HOURS = env.env_int(
    "WEBHOOK_DISABLE_AFTER_HOURS",
    120,
    low=1,
    high=8760,
    help="A webhook that only fails for so long is switched off.",
)
WEBHOOK_LOG_DAYS = env.env_int(
    "WEBHOOK_LOG_DAYS", 30, low=1, high=3650, help="How long webhook attempts are kept."
)
