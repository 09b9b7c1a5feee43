"""The rollout desk: flags, their percentages, and who changed them last."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin

from apps.flags.models import FeatureFlag
from apps.flags.services import delete_flag, set_flag


@admin.register(FeatureFlag)
class FeatureFlagAdmin(ModelAdmin):
    """Flags; every change goes through the service, which notes who made it."""

    list_display = ["flag_name", "is_enabled", "rollout_percent", "updated_by", "updated_at"]
    list_filter = ["is_enabled"]
    search_fields = ["flag_name", "description"]
    ordering = ["flag_name"]
    fieldsets = [
        (None, {"fields": ["flag_name", "description"]}),
        (_("Rollout"), {"fields": ["is_enabled", "rollout_percent"]}),
        (_("Last change"), {"fields": ["updated_by", "updated_at", "created_at"]}),
    ]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """A name is given once: code refers to it."""
        return ["updated_by", "updated_at", "created_at", *(["flag_name"] if obj else [])]

    def save_model(self, request: HttpRequest, obj: FeatureFlag, form: Any, change: bool) -> None:
        """Change the flag by the service."""
        saved = set_flag(
            obj.flag_name,
            actor=request.user.get_username(),
            is_enabled=obj.is_enabled,
            rollout_percent=obj.rollout_percent,
            description=obj.description,
        )
        obj.pk = saved.pk

    def delete_model(self, request: HttpRequest, obj: FeatureFlag) -> None:
        """Delete the flag by the service."""
        delete_flag(obj.flag_name, actor=request.user.get_username())

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        """The same for several."""
        for flag in queryset:
            self.delete_model(request, flag)
