"""Reads of moderation: the queue of reported packs, and what authors are told."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Min, QuerySet

from apps.stickers.choices import Outcome, ReportReason
from apps.stickers.models import ModerationDecision, PackReport, StickerPack
from apps.stickers.queries import with_relations
from apps.whatsapp_auth.queries import owner_jids_of

QUEUE_PAGE = 30
NOTICE_AGE = timedelta(days=90)
MAX_NOTICES = 20


@dataclass(frozen=True, slots=True)
class ReportedPack:
    """A pack with open reports: how many, since when, and why, the most frequent first."""

    pack: StickerPack
    report_count: int
    since: datetime
    reasons: Sequence[tuple[str, int]]
    texts: Sequence[str]


def reported_packs(*, limit: int = QUEUE_PAGE) -> list[ReportedPack]:
    """The packs that wait for a decision: most reports first, then longest waiting."""
    open_reports = PackReport.objects.filter(outcome=Outcome.OPEN, pack__deleted_at=None)
    grouped = open_reports.values("pack").annotate(count=Count("pk"), since=Min("created_at"))
    rows = list(grouped.order_by("-count", "since", "pack")[:limit])
    ids = [row["pack"] for row in rows]
    packs = with_relations(StickerPack.objects.all()).in_bulk(ids)
    told: dict[str, list[PackReport]] = {pk: [] for pk in ids}
    for report in open_reports.filter(pack__in=ids).order_by("created_at", "pk"):
        told[report.pack_id].append(report)
    return [
        ReportedPack(
            packs[row["pack"]],
            row["count"],
            row["since"],
            _reasons(told[row["pack"]]),
            [report.text for report in told[row["pack"]] if report.text][:5],
        )
        for row in rows
    ]


def open_report_count() -> int:
    """How many reports wait."""
    return PackReport.objects.filter(outcome=Outcome.OPEN, pack__deleted_at=None).count()


def notices_for(owner_jid: str, *, now: datetime) -> QuerySet[ModerationDecision]:
    """What moderators did with a person's packs of late, newest first; removed ones included."""
    decisions = ModerationDecision.objects.filter(
        pack__owner_jid__in=owner_jids_of(owner_jid), decided_at__gte=now - NOTICE_AGE
    ).exclude(outcome=Outcome.DISMISSED)
    return decisions.select_related("pack").order_by("-decided_at", "-pk")[:MAX_NOTICES]


def _reasons(reports: Sequence[PackReport]) -> list[tuple[str, int]]:
    counted = Counter(report.reason for report in reports)
    return [(str(ReportReason(name).label), count) for name, count in counted.most_common()]
