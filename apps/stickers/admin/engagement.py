"""What visitors did and said, the scores drawn from it, and what moderators decided."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.timesince import timesince
from django.utils.translation import gettext_lazy as _

from apps.common.admin import ReadOnlyAdmin
from apps.stickers.admin.charts import score_chart
from apps.stickers.models import (
    InteractionEvent,
    ModerationDecision,
    PackReport,
    PackScoreSnapshot,
    StickerPack,
)


def pack_link(pack: StickerPack) -> str:
    """A pack's admin page, by its name."""
    address = reverse("admin:stickers_stickerpack_change", args=[pack.pk])
    return format_html('<a href="{}">{}</a>', address, pack.name)


@admin.register(PackScoreSnapshot)
class PackScoreSnapshotAdmin(ReadOnlyAdmin):
    """Scores, what they are made of, and how fresh they are."""

    list_display = [
        "pack",
        "ranking_score",
        "pack_score",
        "trend_score",
        "engagement_score",
        "nsfw_level",
        "age",
        "refreshed_at",
    ]
    list_filter = ["nsfw_level", "source_version"]
    list_select_related = ["pack"]
    search_fields = ["pack__name", "pack__pack_key"]
    ordering = ["-ranking_score"]
    readonly_fields = ["breakdown", "age"]

    @admin.display(description=_("age"), ordering="refreshed_at")
    def age(self, snapshot: PackScoreSnapshot) -> str:
        return timesince(snapshot.refreshed_at)

    @admin.display(description=_("score"))
    def breakdown(self, snapshot: PackScoreSnapshot) -> str:
        return score_chart(snapshot)


@admin.register(PackReport)
class PackReportAdmin(ReadOnlyAdmin):
    """What visitors reported; decided on the pack's row or on the moderators' page."""

    list_display = ["created_at", "reported", "reason", "text", "outcome", "decided_at"]
    list_filter = ["outcome", "reason"]
    list_select_related = ["pack"]
    search_fields = ["pack__pack_key", "pack__name"]
    ordering = ["-created_at"]

    @admin.display(description=_("pack"), ordering="pack__name")
    def reported(self, report: PackReport) -> str:
        return pack_link(report.pack)


@admin.register(ModerationDecision)
class ModerationDecisionAdmin(ReadOnlyAdmin):
    """The log of moderation: what, about which pack, by whom, why."""

    list_display = ["decided_at", "decided", "outcome", "reason", "report_count", "moderator"]
    list_filter = ["outcome"]
    list_select_related = ["pack"]
    search_fields = ["pack__pack_key", "moderator", "reason"]
    ordering = ["-decided_at"]

    @admin.display(description=_("pack"), ordering="pack__name")
    def decided(self, decision: ModerationDecision) -> str:
        return pack_link(decision.pack)


@admin.register(InteractionEvent)
class InteractionEventAdmin(ReadOnlyAdmin):
    """Single opens and opinions; actors are keyed hashes."""

    list_display = ["created_at", "met", "interaction", "source"]
    list_filter = ["interaction", "source"]
    list_select_related = ["pack"]
    search_fields = ["pack__pack_key"]
    ordering = ["-pk"]
    show_full_result_count = False

    @admin.display(description=_("pack"))
    def met(self, event: InteractionEvent) -> str:
        return pack_link(event.pack)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whoever may see packs in detail may see what visitors did with them."""
        return request.user.has_perm("stickers.view_interactionevent")
