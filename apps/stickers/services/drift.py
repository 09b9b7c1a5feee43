"""How far categories shift, measured once for all workers (S8), and the weights that follow.

A measure is a row; whoever finds it too old takes the cursor's lock and measures, the others go on
with the old one. Snapshots read the newest row and never measure.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Q

from apps.stickers.models import AssetClassification, CategoryDrift
from apps.stickers.scoring import drift_weights
from apps.stickers.services.cursors import lock_cursor

CURSOR = "category drift"
WEEK, MONTH = timedelta(days=7), timedelta(days=30)
KEPT_FOR = timedelta(days=90)
# A share that grew by so much within the month is a trend.
GAINED_FROM = 0.05


def measure_drift(*, now: datetime) -> CategoryDrift | None:
    """A new measure, unless the last one is fresh or there is nothing to measure."""
    if _is_fresh(now):
        return None
    with transaction.atomic():
        lock_cursor(CURSOR)
        return None if _is_fresh(now) else _measure(now)


def gaining_categories(drift: CategoryDrift) -> list[str]:
    """The categories whose share of the week is clearly above that of the month."""
    week, month = _shares(drift.last_week), _shares(drift.last_month)
    return sorted(name for name in week if week[name] - month.get(name, 0) >= GAINED_FROM)


def _is_fresh(now: datetime) -> bool:
    oldest = now - timedelta(seconds=settings.DRIFT_REFRESH_SECONDS)
    return CategoryDrift.objects.filter(measured_at__gt=oldest).exists()


def _measure(now: datetime) -> CategoryDrift | None:
    rows = AssetClassification.objects.filter(updated_at__gte=now - MONTH, category__isnull=False)
    counted = list(
        rows.values_list("category")
        .annotate(month=Count("pk"), week=Count("pk", filter=Q(updated_at__gte=now - WEEK)))
        .order_by("category")
    )
    week = {name: in_week for name, _month, in_week in counted if in_week}
    month = {name: in_month for name, in_month, _week in counted}
    result = drift_weights(week, month, sensitivity=settings.DRIFT_SENSITIVITY)
    CategoryDrift.objects.filter(measured_at__lt=now - KEPT_FOR).delete()
    return CategoryDrift.objects.create(
        measured_at=now,
        drift_score=result["drift_score"],
        weights=result["weights"],
        last_week=week,
        last_month=month,
    )


def _shares(counts: Mapping[str, int]) -> dict[str, float]:
    total = sum(counts.values())
    return {name: count / total for name, count in counts.items()} if total else {}
