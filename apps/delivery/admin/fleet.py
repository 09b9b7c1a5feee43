"""The fleet page: every environment at the last look, and whether the cluster answers."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from apps.common.admin import ReadOnlyAdmin
from apps.delivery.models import ClusterStatus, EnvironmentStatus


@admin.register(EnvironmentStatus)
class FleetAdmin(ReadOnlyAdmin):
    """Health and drift; read from the tables, so the page works while the cluster is away."""

    list_display = ["place", "health", "pods", "has_drifted", "reason", "checked_at"]
    list_filter = ["health", "has_drifted"]
    list_select_related = ["environment__app"]
    search_fields = ["environment__namespace", "environment__hostname"]
    list_before_template = "delivery/admin/cluster.html"
    fields = ["place", "health", "pods", "reason", "drift_lines", "checked_at"]
    readonly_fields = fields

    @admin.display(description=_("environment"), ordering="environment__namespace")
    def place(self, status: EnvironmentStatus) -> SafeString:
        """The environment, with the way to its page."""
        address = reverse("admin:delivery_environment_change", args=[status.environment_id])
        return format_html('<a href="{}">{}</a>', address, status.environment.namespace)

    @admin.display(description=_("replicas"))
    def pods(self, status: EnvironmentStatus) -> str:
        """Available of wanted."""
        return f"{status.replicas_available}/{status.replicas_wanted}"

    @admin.display(description=_("drift"))
    def drift_lines(self, status: EnvironmentStatus) -> SafeString:
        """How the cluster differs from the release."""
        return format_html("<pre>{}</pre>", "\n".join(status.drift) or "–")

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The list below a line about the cluster."""
        cluster = ClusterStatus.objects.first() or ClusterStatus(checked_at=timezone.now())
        context = {**(extra_context or {}), "cluster": cluster}
        page: HttpResponse = super().changelist_view(request, context)
        return page
