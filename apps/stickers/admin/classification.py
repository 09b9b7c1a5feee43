"""The operator's pages of classification: what was seen, what is asked again, how it shifts."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from apps.common.admin import ReadOnlyAdmin
from apps.stickers.admin.charts import thumbnail
from apps.stickers.choices import ReprocessReason
from apps.stickers.models import (
    AssetClassification,
    CategoryDrift,
    ReprocessTask,
    StickerAsset,
    ThemeCluster,
    ThemeSuggestion,
)
from apps.stickers.services import reprocessing
from apps.stickers.services.fingerprinting import near_copies
from apps.stickers.services.reprocess_requests import enqueue_reprocess

MAX_COPIES_SHOWN = 24


@admin.register(AssetClassification)
class AssetClassificationAdmin(ReadOnlyAdmin):
    """What classifiers said, with near copies; any of them can be asked about again."""

    list_display = [
        "picture",
        "asset",
        "category",
        "confidence",
        "ambiguous",
        "is_nsfw",
        "provider",
        "classification_version",
        "updated_at",
    ]
    list_display_links = ["asset"]
    list_filter = ["category", "provider", "classification_version", "ambiguous", "is_nsfw"]
    list_select_related = ["asset"]
    search_fields = ["asset__sha256", "semantic_cluster_slug"]
    readonly_fields = ["near_copies"]
    actions = ["classify_again", "review_content"]

    @admin.display(description=_("picture"))
    def picture(self, classification: AssetClassification) -> str:
        return thumbnail(classification.asset)

    @admin.display(description=_("near copies"))
    def near_copies(self, classification: AssetClassification) -> str:
        ids = near_copies([classification.pk]).get(classification.pk, [])
        found = StickerAsset.objects.filter(pk__in=ids).order_by("pk")[:MAX_COPIES_SHOWN]
        pictures = ((_link(asset), thumbnail(asset)) for asset in found)
        return format_html_join(" ", '<a href="{}">{}</a>', pictures) or "–"

    def has_ask_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("stickers.change_assetclassification")

    @admin.action(description=_("Classify the selected stickers again"), permissions=["ask"])
    def classify_again(self, request: HttpRequest, chosen: QuerySet[AssetClassification]) -> None:
        self._ask(request, chosen, ReprocessReason.MODEL_UPGRADE)

    @admin.action(
        description=_("Review the selected stickers for sensitive content"), permissions=["ask"]
    )
    def review_content(self, request: HttpRequest, chosen: QuerySet[AssetClassification]) -> None:
        self._ask(request, chosen, ReprocessReason.NSFW_REVIEW)

    def _ask(
        self, request: HttpRequest, chosen: QuerySet[AssetClassification], reason: ReprocessReason
    ) -> None:
        count = enqueue_reprocess(list(chosen.values_list("pk", flat=True)), reason)
        text = ngettext("%(count)d sticker asked again.", "%(count)d stickers asked again.", count)
        self.message_user(request, text % {"count": count})


@admin.register(ReprocessTask)
class ReprocessTaskAdmin(ReadOnlyAdmin):
    """Requests to classify a sticker again; dead ones can be sent back."""

    list_display = [
        "id",
        "picture",
        "asset",
        "reason",
        "status",
        "attempts",
        "scheduled_at",
        "last_error",
    ]
    list_filter = ["status", "reason"]
    list_select_related = ["asset"]
    search_fields = ["asset__sha256"]
    ordering = ["-pk"]
    actions = ["redrive"]

    @admin.display(description=_("picture"))
    def picture(self, task: ReprocessTask) -> str:
        return thumbnail(task.asset)

    def has_redrive_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("stickers.change_reprocesstask")

    @admin.action(description=_("Send the selected dead requests back"), permissions=["redrive"])
    def redrive(self, request: HttpRequest, chosen: QuerySet[ReprocessTask]) -> None:
        moved = reprocessing.redrive(list(chosen.values_list("pk", flat=True)))
        text = ngettext("%(count)d request sent back.", "%(count)d requests sent back.", len(moved))
        self.message_user(request, text % {"count": len(moved)})


@admin.register(CategoryDrift)
class CategoryDriftAdmin(ReadOnlyAdmin):
    """How far categories shifted at each measure, and the weights of the pack score that follow."""

    list_display = ["measured_at", "drift_score", "weights"]
    ordering = ["-pk"]
    date_hierarchy = "measured_at"


@admin.register(ThemeCluster)
class ThemeClusterAdmin(ReadOnlyAdmin):
    """Semantic themes that stickers and packs gather around."""

    list_display = ["id", "canonical_slug", "embedding_dim", "created_at"]
    search_fields = ["canonical_slug"]
    ordering = ["-pk"]
    exclude = ["embedding"]


@admin.register(ThemeSuggestion)
class ThemeSuggestionAdmin(ReadOnlyAdmin):
    """Suggested themes and the cluster that each was matched to."""

    list_display = ["normalized_text", "canonical_slug", "last_similarity", "created_at"]
    list_select_related = ["semantic_cluster"]
    search_fields = ["normalized_text", "canonical_slug"]
    ordering = ["-created_at"]
    exclude = ["embedding"]


def _link(asset: StickerAsset) -> Any:
    return reverse("admin:stickers_stickerasset_change", args=[asset.pk])
