"""Reads of the curation: a run's report as its page shows it."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db.models import QuerySet

from apps.stickers.choices import CurationReason, CurationVerdict
from apps.stickers.models import CurationDecision, CurationRun

MAX_STICKERS_SHOWN = 30


@dataclass(slots=True)
class ThemeReport:
    """What a run decided about one theme: about its packs, and about its stickers."""

    theme_key: str
    packs: list[CurationDecision] = field(default_factory=list)
    added: list[CurationDecision] = field(default_factory=list)
    removed: list[CurationDecision] = field(default_factory=list)
    refused: list[CurationDecision] = field(default_factory=list)

    @property
    def parts(self) -> list[tuple[str, list[CurationDecision], int]]:
        """The stickers by verdict: its words, those shown, and how many there are."""
        groups = (
            (CurationVerdict.ADDED, self.added),
            (CurationVerdict.REMOVED, self.removed),
            (CurationVerdict.REFUSED, self.refused),
        )
        return [
            (str(verdict.label), found[:MAX_STICKERS_SHOWN], len(found))
            for verdict, found in groups
            if found
        ]


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """How many decisions of one kind a run made."""

    verdict: CurationVerdict
    reason: CurationReason
    count: int


def summary_lines(run: CurationRun) -> list[SummaryLine]:
    """The counts of a run, most frequent first."""
    lines = []
    for name, count in run.summary.items():
        verdict, _colon, reason = name.partition(":")
        lines.append(SummaryLine(CurationVerdict(verdict), CurationReason(reason), count))
    return sorted(lines, key=lambda line: (-line.count, line.verdict, line.reason))


def theme_reports(run: CurationRun) -> Sequence[ThemeReport]:
    """The decisions of a run by theme: themes whose packs changed come first."""
    themes: dict[str, ThemeReport] = {}
    of_kind: dict[str, str] = defaultdict(
        lambda: "packs",
        {
            CurationVerdict.ADDED.value: "added",
            CurationVerdict.REMOVED.value: "removed",
            CurationVerdict.REFUSED.value: "refused",
        },
    )
    for decision in decisions_of(run):
        report = themes.setdefault(decision.theme_key, ThemeReport(decision.theme_key))
        getattr(report, of_kind[decision.verdict]).append(decision)
    return sorted(themes.values(), key=lambda report: (not report.packs, report.theme_key))


def decisions_of(run: CurationRun) -> QuerySet[CurationDecision]:
    """The decisions of a run, best stickers first."""
    return run.decisions.select_related("asset", "pack").order_by("theme_key", "-score", "pk")
