"""The operator's pages of the sticker service."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.admin import TabularInline

from apps.common.admin import ReadOnlyAdmin
from apps.stickers.api.serializers import asset_address
from apps.stickers.models import (
    PackScoreSnapshot,
    PackWebUpload,
    StickerAsset,
    StickerPack,
    StickerPackItem,
    WorkerTask,
    WorkerTaskDeadLetter,
)
from apps.stickers.services import worker_tasks


def thumbnail(asset: StickerAsset | None) -> str:
    """A small picture of a sticker, or a dash."""
    address = asset_address(asset)
    return format_html('<img class="thumbnail" src="{}" alt="">', address) if address else "–"


class StickerPackItemInline(TabularInline):
    """The stickers of a pack, with their pictures."""

    model = StickerPackItem
    fields = ["picture", "position", "sticker", "emojis", "accessibility_label"]
    readonly_fields = fields
    ordering = ["position"]
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[StickerPackItem]:
        items: QuerySet[StickerPackItem] = super().get_queryset(request)
        return items.select_related("sticker")

    @admin.display(description=_("picture"))
    def picture(self, item: StickerPackItem) -> str:
        return thumbnail(item.sticker)


@admin.register(StickerPack)
class StickerPackAdmin(ReadOnlyAdmin):
    """Packs with cover, owner, rank and state."""

    list_display = [
        "cover",
        "name",
        "publisher",
        "owner_jid",
        "visibility",
        "status",
        "ranking_score",
        "updated_at",
        "page",
    ]
    list_display_links = ["name"]
    list_filter = ["visibility", "status", "pack_status", "is_auto_pack"]
    list_select_related = ["cover_sticker", "snapshot"]
    search_fields = ["pack_key", "name", "owner_jid"]
    ordering = ["-updated_at"]
    inlines = [StickerPackItemInline]

    @admin.display(description=_("cover"))
    def cover(self, pack: StickerPack) -> str:
        return thumbnail(pack.cover_sticker)

    @admin.display(description=_("rank"), ordering="snapshot__ranking_score")
    def ranking_score(self, pack: StickerPack) -> Any:
        return pack.snapshot.ranking_score if hasattr(pack, "snapshot") else "–"

    @admin.display(description=_("page"))
    def page(self, pack: StickerPack) -> str:
        address = reverse("pack", args=[pack.pack_key])
        return format_html('<a href="{}">{}</a>', address, pack.pack_key)


@admin.register(StickerAsset)
class StickerAssetAdmin(ReadOnlyAdmin):
    """Stickers with picture and category."""

    list_display = ["picture", "sha256", "category", "is_animated", "size_bytes", "created_at"]
    list_display_links = ["sha256"]
    list_filter = ["is_animated", "classification__category", "classification__is_nsfw"]
    list_select_related = ["classification"]
    search_fields = ["sha256", "owner_jid"]
    ordering = ["-created_at"]

    @admin.display(description=_("picture"))
    def picture(self, asset: StickerAsset) -> str:
        return thumbnail(asset)

    @admin.display(description=_("category"), ordering="classification__category")
    def category(self, asset: StickerAsset) -> str:
        found = getattr(asset, "classification", None)
        return found.category or "–" if found else "–"


@admin.register(PackScoreSnapshot)
class PackScoreSnapshotAdmin(ReadOnlyAdmin):
    """Scores and how fresh they are."""

    list_display = [
        "pack",
        "ranking_score",
        "pack_score",
        "trend_score",
        "engagement_score",
        "nsfw_level",
        "refreshed_at",
    ]
    list_filter = ["nsfw_level", "source_version"]
    list_select_related = ["pack"]
    search_fields = ["pack__name", "pack__pack_key"]
    ordering = ["-ranking_score"]


@admin.register(PackWebUpload)
class PackWebUploadAdmin(ReadOnlyAdmin):
    """Uploads and why they failed."""

    list_display = ["upload_id", "pack", "upload_status", "error_code", "attempt_count"]
    list_filter = ["upload_status", "error_code"]
    list_select_related = ["pack"]
    search_fields = ["upload_id", "pack__pack_key"]


class TaskAdmin(ReadOnlyAdmin):
    """What the leased queues of the sticker workers have in common."""

    list_filter = ["status"]
    ordering = ["-pk"]
    show_full_result_count = False


@admin.register(WorkerTask)
class WorkerTaskAdmin(TaskAdmin):
    """Runs of the worker cycles; dead ones can be sent back."""

    list_display = ["id", "task_type", "status", "priority", "attempts", "last_error", "updated_at"]
    list_filter = ["status", "task_type"]
    actions = ["redrive"]

    def has_redrive_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("stickers.change_workertask")

    @admin.action(description=_("Send the selected dead tasks back"), permissions=["redrive"])
    def redrive(self, request: HttpRequest, chosen: QuerySet[WorkerTask]) -> None:
        moved = worker_tasks.redrive(list(chosen.values_list("pk", flat=True)))
        text = ngettext("%(count)d task sent back.", "%(count)d tasks sent back.", len(moved))
        self.message_user(request, text % {"count": len(moved)})


@admin.register(WorkerTaskDeadLetter)
class WorkerTaskDeadLetterAdmin(ReadOnlyAdmin):
    """Copies of worker tasks that used up their attempts."""

    list_display = ["task_id", "task_type", "attempts", "last_error", "failed_at"]
    list_filter = ["task_type"]
    ordering = ["-failed_at"]


# The pages of classification, curation and storage register themselves.
from apps.stickers import classification_admin, curation_admin, storage_admin  # noqa: E402, F401
