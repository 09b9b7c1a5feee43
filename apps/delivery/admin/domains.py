"""Custom domains: which are waiting, which fail and why."""

from collections.abc import Sequence

from django.contrib import admin
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin

from apps.delivery.admin.forms import CustomDomainForm
from apps.delivery.models import CustomDomain
from apps.delivery.services import custom_domains as services


@admin.register(CustomDomain)
class CustomDomainAdmin(ModelAdmin):
    """Hosts of customers; the worker verifies them, so their state is read-only."""

    form = CustomDomainForm
    list_display = ["host", "status", "reason", "environment", "checked_at", "created_at"]
    list_filter = ["status"]
    list_select_related = ["environment"]
    search_fields = ["host", "environment__namespace"]
    autocomplete_fields = ["environment"]
    fieldsets = [
        (None, {"fields": ["environment", "host"]}),
        (
            _("State"),
            {"fields": ["status", "reason", "verified_at", "checked_at", "next_check_at"]},
        ),
    ]

    def get_readonly_fields(
        self, request: HttpRequest, obj: CustomDomain | None = None
    ) -> Sequence[str]:
        """A host is added or removed, never renamed."""
        states = ["status", "reason", "verified_at", "checked_at", "next_check_at"]
        return states if obj is None else [*states, "environment", "host"]

    def save_model(
        self, request: HttpRequest, obj: CustomDomain, form: ModelForm, change: bool
    ) -> None:
        if change:
            return  # there is nothing to change
        [added] = services.add_custom_domain(
            obj.environment.namespace,
            obj.host,
            actor=request.user.get_username(),
            now=timezone.now(),
        )
        obj.pk = added.pk

    def delete_model(self, request: HttpRequest, obj: CustomDomain) -> None:
        services.remove_custom_domain(obj, actor=request.user.get_username(), now=timezone.now())

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[CustomDomain]) -> None:
        for domain in queryset.select_related("environment"):
            self.delete_model(request, domain)
