"""What is forgotten by age; each period is a setting. Deletes go in batches, so none locks long."""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q, QuerySet

from apps.whatsapp_auth.models import (
    AccountNotice,
    GoogleSession,
    LidHistory,
    LidMapping,
    LinkUse,
    LoginEvent,
)

BATCH_SIZE = 1000


def prune(*, now: datetime) -> dict[str, int]:
    """Delete what is older than its period; tells how many rows by table."""
    return {name: _delete_in_batches(rows) for name, rows in _outdated(now).items()}


def _outdated(now: datetime) -> dict[str, QuerySet[Any]]:
    """Rows past their period. A used link may go once it could not verify any more."""

    def before(days: int) -> datetime:
        return now - timedelta(days=days)

    sessions = before(settings.ENDED_SESSION_RETENTION_DAYS)
    links = now - 2 * timedelta(seconds=settings.WHATSAPP_LOGIN_LINK_TTL_SECONDS)
    events = before(settings.LOGIN_EVENT_RETENTION_DAYS)
    return {
        "sessions": GoogleSession.objects.filter(
            Q(expires_at__lt=sessions) | Q(revoked_at__lt=sessions)
        ),
        "used_links": LinkUse.objects.filter(used_at__lt=links),
        "sign_in_events": LoginEvent.objects.filter(occurred_at__lt=events),
        "notices": AccountNotice.objects.filter(seen_at__lt=events),
        "lid_history": LidHistory.objects.filter(
            valid_to__lt=before(settings.LID_HISTORY_RETENTION_DAYS)
        ),
        "lid_mappings": LidMapping.objects.filter(
            last_seen__lt=before(settings.LID_MAPPING_RETENTION_DAYS)
        ),
    }


def _delete_in_batches(rows: QuerySet[Any]) -> int:
    total = 0
    while ids := list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH_SIZE]):
        total += rows.model.objects.filter(pk__in=ids).delete()[0]
    return total
