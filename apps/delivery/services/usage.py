"""Everything that writes usage."""

from apps.delivery.services.usage_checks import TotalsReport, check_totals
from apps.delivery.services.usage_counters import RecomputeReport, recompute
from apps.delivery.services.usage_ingest import Acceptance, Outcome, ingest
from apps.delivery.services.usage_pruning import prune_events
from apps.delivery.services.usage_reservations import (
    Ask,
    commit,
    expire_reservations,
    release,
    reserve,
)

__all__ = [
    "Acceptance",
    "Ask",
    "Outcome",
    "RecomputeReport",
    "TotalsReport",
    "check_totals",
    "commit",
    "expire_reservations",
    "ingest",
    "prune_events",
    "recompute",
    "release",
    "reserve",
]
