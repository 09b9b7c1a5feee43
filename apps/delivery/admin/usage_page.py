"""The usage page of an app: what it used in a period, its limits, its users, its invoice."""

from dataclasses import dataclass
from datetime import date

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.delivery.models import App, LimitAlert
from apps.delivery.services.usage_metrics import prefill_limits
from apps.delivery.usage.charts import Column, LimitBar, day_columns, limit_bar
from apps.delivery.usage.periods import Period
from apps.delivery.usage_queries import (
    UsageRow,
    current_period,
    days_of,
    invoice_of,
    period_starting,
    periods_of,
    top_subjects,
)

MAX_PERIODS = 24


@dataclass(frozen=True, slots=True)
class MetricPanel:
    """One metric of the page."""

    row: UsageRow
    bar: LimitBar
    columns: list[Column]
    subjects: list[tuple[str, int]]


def usage_view(request: HttpRequest, object_id: str) -> HttpResponse:
    """Everything about an app's usage in the period that the address names, else in this one."""
    if not request.user.has_perm("delivery.view_usagetotal"):
        raise PermissionDenied
    app = get_object_or_404(App.objects.select_related("plan"), pk=object_id)
    now = timezone.now()
    present = current_period(app, now).first_day
    first_day = _chosen(request, present)
    period = period_starting(app, first_day)
    invoice = invoice_of(app, first_day, now=now)
    alerts = LimitAlert.objects.filter(metric__app=app, period=first_day)
    context = admin.site.each_context(request) | {
        "title": _("Usage of %(app)s") % {"app": app.code},
        "opts": App._meta,
        "app": app,
        "period": period,
        "periods": sorted({present, *periods_of(app)}, reverse=True)[:MAX_PERIODS],
        "panels": _panels(app, period, invoice.lines),
        "invoice": invoice,
        "alerts": alerts.select_related("metric"),
        "may_prefill": request.user.has_perm("delivery.add_planlimit"),
    }
    return TemplateResponse(request, "delivery/admin/usage.html", context)


def prefill_view(request: HttpRequest, pk: int) -> HttpResponse:
    """Give the plan the limits that the app's manifest proposes."""
    if not request.user.has_perm("delivery.add_planlimit"):
        raise PermissionDenied
    app = get_object_or_404(App.objects.select_related("plan"), pk=pk)
    filled = prefill_limits(app, actor=request.user.get_username())
    told = _("The plan got %(count)d limits from the manifest.") % {"count": len(filled)}
    messages.success(request, told)
    return HttpResponseRedirect(reverse("admin:delivery_app_usage", args=[pk]))


def _chosen(request: HttpRequest, present: date) -> date:
    """The first day in the address. Raises Http404 for what is none."""
    named = request.GET.get("period")
    if not named:
        return present
    try:
        return date.fromisoformat(named)
    except ValueError as error:
        raise Http404 from error


def _panels(app: App, period: Period, rows: list[UsageRow]) -> list[MetricPanel]:
    """One query for each metric, of which a manifest has ten at most: each has its own top."""
    days = days_of(app, period.first_day)
    return [
        MetricPanel(
            row=row,
            bar=limit_bar(row.used, row.reserved, row.included, row.ceiling),
            columns=day_columns(period.first_day, period.next_day, days.get(row.metric, {})),
            subjects=top_subjects(app, period.first_day, row.metric),
        )
        for row in rows
    ]
