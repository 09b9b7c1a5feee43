"""Counters, events, reservations and alerts: written by the system, looked at here."""

from datetime import timedelta
from typing import Any

from django.contrib import admin, messages
from django.db.models import F, FloatField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Cast
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from apps.common.admin import ReadOnlyAdmin
from apps.delivery.models import (
    AppAccount,
    LimitAlert,
    PlanLimit,
    UsageEvent,
    UsageMetric,
    UsageReservation,
    UsageTotal,
)
from apps.delivery.services.usage import recompute
from apps.delivery.usage.charts import level_of

TOP_CONSUMERS = 10
# The longest period and the days that a late event may take.
_RECENT = timedelta(days=34)


def usage_link(app_id: int, code: str) -> SafeString:
    """The app, with the way to its usage page."""
    address = reverse("admin:delivery_app_usage", args=[app_id])
    return format_html('<a class="text-primary-600" href="{}">{}</a>', address, code)


class MetricRowAdmin(ReadOnlyAdmin):
    """Rows of a metric: found by app, metric and period."""

    list_filter = [("metric__app", admin.RelatedOnlyFieldListFilter), "period"]
    list_select_related = ["metric__app"]
    search_fields = ["metric__app__code", "metric__code"]

    @admin.display(description=_("app"), ordering="metric__app__code")
    def app(self, row: Any) -> SafeString:
        """The app, with the way to its usage page."""
        return usage_link(row.metric.app_id, row.metric.app.code)


def with_included(totals: QuerySet[UsageTotal]) -> QuerySet[Any]:
    """Counters with what the app's plan includes, and the share that is used."""
    limits = PlanLimit.objects.filter(
        plan_id=OuterRef("metric__app__plan_id"), metric_code=OuterRef("metric__code")
    )
    included = Subquery(limits.values("included")[:1])
    share = Cast("used", FloatField()) / Cast(included, FloatField())
    rows: QuerySet[Any] = totals.annotate(included=included, share=share)
    return rows


def top_consumers() -> QuerySet[Any]:
    """The counters nearest to or furthest beyond their included amount in present periods."""
    recent = UsageTotal.objects.filter(period__gte=(timezone.now() - _RECENT).date())
    rows = with_included(recent).filter(included__gt=0).select_related("metric__app")
    return rows.order_by(F("share").desc(), "pk")[:TOP_CONSUMERS]


@admin.register(UsageTotal)
class UsageTotalAdmin(MetricRowAdmin):
    """How much each app used, beside what its plan includes; the greatest shares stand on top."""

    list_display = ["app", "metric", "period", "used", "held", "limit", "event_count", "checked_at"]
    list_before_template = "delivery/admin/top_consumers.html"
    actions = ["recount"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[UsageTotal]:
        rows: QuerySet[UsageTotal] = super().get_queryset(request)
        return with_included(rows)

    @admin.display(description=_("held"), ordering="reserved")
    def held(self, total: UsageTotal) -> str:
        """Units that reservations hold."""
        return str(total.reserved or "–")

    @admin.display(description=_("included"), ordering="share")
    def limit(self, total: Any) -> SafeString:
        """The included amount with a bar."""
        if total.included is None:
            return format_html("{}", _now("no limit"))
        return format_html(
            '<progress class="share level-{}" max="{}" value="{}"></progress> {}',
            level_of(total.used, total.included),
            total.included or 1,
            min(total.used, total.included or 1),
            total.included,
        )

    @admin.action(description=_("Count the events anew"), permissions=["recount"])
    def recount(self, request: HttpRequest, chosen: QuerySet[UsageTotal]) -> None:
        """Mend counters that differ from their events, and say how many did."""
        reports = [
            recompute(total.metric.app.code, total.metric.code, total.period, now=timezone.now())
            for total in chosen.filter(pruned_at=None).select_related("metric__app")
        ]
        mended = sum(report.is_corrected for report in reports)
        told = _now("%(mended)d of %(count)d counters differed from their events.")
        level = messages.WARNING if mended else messages.SUCCESS
        self.message_user(request, told % {"mended": mended, "count": len(reports)}, level)

    def has_recount_permission(self, request: HttpRequest) -> bool:
        """Whoever may change counters, which nobody does by hand."""
        return request.user.has_perm("delivery.change_usagetotal")

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The list below the greatest shares."""
        context = {**(extra_context or {}), "consumers": top_consumers()}
        page: HttpResponse = super().changelist_view(request, context)
        return page


@admin.register(UsageMetric)
class UsageMetricAdmin(ReadOnlyAdmin):
    """What apps count, as their manifests declare it."""

    list_display = ["code", "app_page", "name", "unit", "is_declared", "created_at"]
    list_filter = ["is_declared", ("app", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["app"]
    search_fields = ["code", "name", "app__code"]

    @admin.display(description=_("app"), ordering="app__code")
    def app_page(self, metric: UsageMetric) -> SafeString:
        """The app, with the way to its usage page."""
        return usage_link(metric.app_id, metric.app.code)


@admin.register(UsageEvent)
class UsageEventAdmin(MetricRowAdmin):
    """Single events, found by their id."""

    list_display = [
        "event_id",
        "app",
        "metric",
        "quantity",
        "subject",
        "occurred_at",
        "received_at",
    ]
    search_fields = ["=event_id", "=subject"]
    search_help_text = _("The whole id of the event, or who used it.")


@admin.register(UsageReservation)
class UsageReservationAdmin(MetricRowAdmin):
    """Units that apps hold or held."""

    list_display = ["reservation_id", "app", "metric", "quantity", "status", "expires_at"]
    list_filter = ["status", ("metric__app", admin.RelatedOnlyFieldListFilter)]
    search_fields = ["=reservation_id", "=subject"]


@admin.register(LimitAlert)
class LimitAlertAdmin(MetricRowAdmin):
    """Lines that usage reached, newest first."""

    list_display = ["created_at", "app", "metric", "period", "line", "used", "threshold"]
    list_filter = ["kind", "percent", ("metric__app", admin.RelatedOnlyFieldListFilter), "period"]

    @admin.display(description=_("reached"), ordering="percent")
    def line(self, alert: LimitAlert) -> str:
        """Which line."""
        is_share = alert.kind == "percent"
        return f"{alert.percent} %" if is_share else str(alert.get_kind_display())


@admin.register(AppAccount)
class AppAccountAdmin(ReadOnlyAdmin):
    """Users whose tokens reach one app; `manage.py usage token` makes them."""

    list_display = ["user", "app"]
    list_select_related = ["app", "user"]
    search_fields = ["app__code", "user__username"]
