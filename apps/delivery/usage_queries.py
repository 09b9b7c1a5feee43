"""Reads of usage: counters beside their limits, days, users, invoices, and the quick check."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.core.cache import cache
from django.db.models import Sum

from apps.delivery.models import App, UsageEvent, UsageMetric, UsageTotal
from apps.delivery.services.usage_counters import find_metric, terms_of
from apps.delivery.usage.charges import charge_minor, charged_blocks, overage_units
from apps.delivery.usage.periods import Period, period_from, period_of
from apps.delivery.usage.terms import Terms, thawed_terms

TOP_SUBJECTS = 10


@dataclass(frozen=True, slots=True)
class UsageRow:
    """A counter with what its app's plan says now."""

    app: str
    metric: str
    name: str
    unit: str
    period: Period
    used: int
    reserved: int
    event_count: int
    terms: Terms | None

    @property
    def included(self) -> int | None:
        """What the plan includes; None where it sets no limit."""
        return self.terms.included if self.terms else None

    @property
    def ceiling(self) -> int | None:
        """What usage never crosses."""
        return self.terms.ceiling if self.terms else None

    @property
    def on_limit(self) -> str | None:
        """What happens beyond the included amount."""
        return str(self.terms.on_limit) if self.terms else None

    @property
    def percent(self) -> int | None:
        """Used of included, rounded down; None where nothing is included."""
        return self.used * 100 // self.included if self.included else None

    @property
    def overage_units(self) -> int:
        """Units beyond what is included."""
        return overage_units(self.used, self.terms.included) if self.terms else 0

    @property
    def overage_blocks(self) -> int | None:
        """Blocks begun; None where units are charged."""
        overage = self.terms.overage if self.terms else None
        if overage is None or overage.mode.value != "block":
            return None
        return charged_blocks(self.overage_units, overage.block_size)

    @property
    def charge_minor(self) -> int:
        """Cents for what lies beyond."""
        return charge_minor(self.used, self.terms.included, self.terms.overage) if self.terms else 0

    def is_final(self, now: datetime) -> bool:
        """Whether no event of the period is taken any more."""
        return now >= self.period.closes_at


@dataclass(frozen=True, slots=True)
class Invoice:
    """What a period of an app costs beyond its plan.

    An open period goes by the plan as it stands now, a closed one by the plan at its end.
    """

    app: str
    period: Period
    currency: str
    is_final: bool
    lines: list[UsageRow]

    @property
    def total_minor(self) -> int:
        """All lines together, in cents."""
        return sum(line.charge_minor for line in self.lines)


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Whether so much more would fit; what others do meanwhile is not known."""

    is_allowed: bool
    used: int
    reserved: int
    included: int | None
    remaining: int | None


def current_period(app: App, now: datetime) -> Period:
    """The period that the app is in."""
    return period_of(now, ZoneInfo(app.time_zone), app.billing_day)


def period_starting(app: App, first_day: date) -> Period:
    """The app's period of that first day."""
    return period_from(first_day, ZoneInfo(app.time_zone), app.billing_day)


def usage_rows(totals: Iterable[UsageTotal]) -> list[UsageRow]:
    """Counters that bring metric and app along, with their limits in one query."""
    rows = list(totals)
    terms = terms_of(total.metric for total in rows)
    return [_row(total.metric, total, total.period, terms) for total in rows]


def usage_of(app: App, first_day: date) -> list[UsageRow]:
    """Every metric of an app in a period, those not used yet as well."""
    metrics = list(UsageMetric.objects.filter(app=app).select_related("app"))
    totals = {
        total.metric_id: total
        for total in UsageTotal.objects.filter(metric__in=metrics, period=first_day)
    }
    terms = terms_of(metrics)
    return [
        _row(metric, totals.get(metric.pk), first_day, terms)
        for metric in metrics
        if metric.is_declared or metric.pk in totals
    ]


def _row(
    metric: UsageMetric, total: UsageTotal | None, first_day: date, terms: dict[int, Terms]
) -> UsageRow:
    settled = total.final_terms if total else None
    return UsageRow(
        app=metric.app.code,
        metric=metric.code,
        name=metric.name,
        unit=metric.unit,
        period=period_starting(metric.app, first_day),
        used=total.used if total else 0,
        reserved=total.reserved if total else 0,
        event_count=total.event_count if total else 0,
        terms=terms.get(metric.pk) if settled is None else thawed_terms(settled),
    )


def invoice_of(app: App, first_day: date, *, now: datetime) -> Invoice:
    """The preview of an invoice; final once the period takes no more events."""
    period = period_starting(app, first_day)
    return Invoice(
        app=app.code,
        period=period,
        currency=settings.USAGE_CURRENCY,
        is_final=now >= period.closes_at,
        lines=usage_of(app, first_day),
    )


def days_of(app: App, first_day: date) -> dict[str, dict[date, int]]:
    """Units by metric and day of a period."""
    events = UsageEvent.objects.filter(metric__app=app, period=first_day)
    rows = events.values_list("metric__code", "day").annotate(units=Sum("quantity")).order_by("day")
    found: dict[str, dict[date, int]] = {}
    for code, day, units in rows:
        found.setdefault(code, {})[day] = int(units)
    return found


def top_subjects(app: App, first_day: date, metric_code: str) -> list[tuple[str, int]]:
    """Who used most of a metric in a period, as the app names its users."""
    events = UsageEvent.objects.filter(
        metric__app=app, metric__code=metric_code, period=first_day
    ).exclude(subject="")
    rows = events.values_list("subject").annotate(units=Sum("quantity"))
    return [(subject, int(units)) for subject, units in rows.order_by("-units")[:TOP_SUBJECTS]]


def periods_of(app: App) -> Sequence[date]:
    """The periods in which an app used something, newest first."""
    rows = UsageTotal.objects.filter(metric__app=app).order_by("-period")
    return list(rows.values_list("period", flat=True).distinct())


def check_usage(app_code: str, metric_code: str, quantity: int, *, now: datetime) -> CheckReport:
    """Whether so much more would fit, from figures that may be some seconds old.

    Only `reserve` is a promise. Raises UsageMetricNotFound.
    """
    used, reserved, included, ceiling = _figures(app_code, metric_code, now)
    remaining = None if ceiling is None else max(0, ceiling - used - reserved)
    is_allowed = remaining is None or quantity <= remaining
    return CheckReport(is_allowed, used, reserved, included, remaining)


def _figures(app_code: str, metric_code: str, now: datetime) -> tuple[Any, ...]:
    key = f"delivery:usage:{app_code}:{metric_code}"
    known: tuple[Any, ...] | None = cache.get(key)
    if known is None:
        metric = find_metric(app_code, metric_code)
        period = current_period(metric.app, now)
        total = UsageTotal.objects.filter(metric=metric, period=period.first_day).first()
        terms = terms_of([metric]).get(metric.pk)
        known = (
            total.used if total else 0,
            total.reserved if total else 0,
            terms.included if terms else None,
            terms.ceiling if terms else None,
        )
        cache.set(key, known, settings.USAGE_CHECK_SECONDS)
    return known


def declared_metrics(app_code: str) -> list[dict[str, Any]]:
    """The metrics of an app as its manifest declares them."""
    rows = UsageMetric.objects.filter(app__code=app_code, is_declared=True)
    return list(rows.values_list("declaration", flat=True))
