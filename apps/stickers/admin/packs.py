"""Packs and stickers with their pictures, scores and states."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.timesince import timesince
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.admin import TabularInline

from apps.common.admin import ReadOnlyAdmin, asked_reason
from apps.stickers.admin.charts import score_chart, thumbnail
from apps.stickers.choices import Outcome
from apps.stickers.models import (
    StickerAsset,
    StickerPack,
    StickerPackItem,
)
from apps.stickers.queries import rankable_packs
from apps.stickers.services import moderation, snapshots
from apps.stickers.services.snapshots import stale_snapshots
from apps.whatsapp_auth.jids import mask_jid


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


class AgeFilter(admin.SimpleListFilter):
    """Packs whose scores wait to be refreshed."""

    title = _("score")
    parameter_name = "score"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        """The two states that an operator looks for."""
        return [("missing", _("missing")), ("stale", _("stale"))]

    def queryset(self, request: HttpRequest, packs: QuerySet[Any]) -> QuerySet[Any]:
        """Rankable packs alone: others have no score by design."""
        if self.value() == "missing":
            return packs.filter(pk__in=rankable_packs().filter(snapshot=None))
        if self.value() == "stale":
            return packs.filter(snapshot__in=stale_snapshots(timezone.now()))
        return packs


@admin.register(StickerPack)
class StickerPackAdmin(ReadOnlyAdmin):
    """Packs with cover, owner, rank and state; moderators decide here too."""

    list_display = [
        "cover",
        "name",
        "publisher",
        "owner",
        "visibility",
        "status",
        "state",
        "ranking_score",
        "score_age",
        "updated_at",
        "page",
    ]
    list_display_links = ["name"]
    list_filter = [
        "visibility",
        "status",
        "pack_status",
        "is_auto_pack",
        "moderation__is_hidden",
        "snapshot__sensitive_content",
        AgeFilter,
    ]
    list_select_related = ["cover_sticker", "snapshot", "moderation"]
    search_fields = ["pack_key", "name", "owner_jid"]
    ordering = ["-updated_at"]
    readonly_fields = ["cover", "state", "score_breakdown", "score_age", "decisions"]
    fieldsets = [
        (None, {"fields": ["cover", "name", "publisher", "description", "pack_key", "owner_jid"]}),
        (
            _("State"),
            {"fields": ["visibility", "status", "pack_status", "state", "decisions", "version"]},
        ),
        (_("Score"), {"fields": ["score_breakdown", "score_age"]}),
        (
            _("Automatic packs"),
            {"fields": ["is_auto_pack", "pack_theme_key", "pack_volume", "last_rebalanced_at"]},
        ),
        (_("Times"), {"fields": ["created_at", "updated_at", "deleted_at"]}),
    ]
    inlines = [StickerPackItemInline]
    actions = ["refresh_scores", "mark_sensitive", "hide", "remove", "restore"]

    def has_moderate_permission(self, request: HttpRequest) -> bool:
        """Who may decide about packs."""
        return request.user.has_perm("stickers.moderate_pack")

    def has_refresh_permission(self, request: HttpRequest) -> bool:
        """Who may have scores computed anew."""
        return request.user.has_perm("stickers.change_packscoresnapshot")

    @admin.display(description=_("cover"))
    def cover(self, pack: StickerPack) -> str:
        return thumbnail(pack.cover_sticker)

    @admin.display(description=_("owner"), ordering="owner_jid")
    def owner(self, pack: StickerPack) -> str:
        return mask_jid(pack.owner_jid) or "–"

    @admin.display(description=_("moderation"))
    def state(self, pack: StickerPack) -> str:
        found = getattr(pack, "moderation", None)
        if found is None:
            return "–"
        if found.is_hidden:
            return str(_("hidden"))
        return str(_("marked sensitive")) if found.is_sensitive else "–"

    @admin.display(description=_("rank"), ordering="snapshot__ranking_score")
    def ranking_score(self, pack: StickerPack) -> Any:
        return pack.snapshot.ranking_score if hasattr(pack, "snapshot") else "–"

    @admin.display(description=_("score age"), ordering="snapshot__refreshed_at")
    def score_age(self, pack: StickerPack) -> str:
        return timesince(pack.snapshot.refreshed_at) if hasattr(pack, "snapshot") else "–"

    @admin.display(description=_("score"))
    def score_breakdown(self, pack: StickerPack) -> str:
        return score_chart(pack.snapshot) if hasattr(pack, "snapshot") else "–"

    @admin.display(description=_("decisions"))
    def decisions(self, pack: StickerPack) -> str:
        rows = pack.decisions.order_by("-decided_at")[:20]
        lines = [
            (row.decided_at, row.get_outcome_display(), row.moderator, row.reason) for row in rows
        ]
        return format_html_join("", "<p>{} · {} · {} · {}</p>", lines) or "–"

    @admin.display(description=_("page"))
    def page(self, pack: StickerPack) -> str:
        address = reverse("pack", args=[pack.pack_key])
        return format_html('<a href="{}">{}</a>', address, pack.pack_key)

    @admin.action(description=_("Compute the scores now"), permissions=["refresh"])
    def refresh_scores(self, request: HttpRequest, chosen: QuerySet[StickerPack]) -> None:
        written = snapshots.refresh_snapshots(
            chosen.values_list("pk", flat=True), now=timezone.now()
        )
        text = ngettext("%(count)d score computed.", "%(count)d scores computed.", written)
        self.message_user(request, text % {"count": written})

    @admin.action(description=_("Mark as sensitive"), permissions=["moderate"])
    def mark_sensitive(self, request: HttpRequest, chosen: QuerySet[StickerPack]) -> Any:
        return self._decide(request, chosen, Outcome.SENSITIVE, _("Mark these as sensitive?"))

    @admin.action(description=_("Hide from everybody"), permissions=["moderate"])
    def hide(self, request: HttpRequest, chosen: QuerySet[StickerPack]) -> Any:
        return self._decide(request, chosen, Outcome.HIDDEN, _("Hide these packs?"))

    @admin.action(description=_("Remove for good"), permissions=["moderate"])
    def remove(self, request: HttpRequest, chosen: QuerySet[StickerPack]) -> Any:
        return self._decide(request, chosen, Outcome.REMOVED, _("Remove these packs for good?"))

    @admin.action(description=_("Show again, without marks"), permissions=["moderate"])
    def restore(self, request: HttpRequest, chosen: QuerySet[StickerPack]) -> Any:
        return self._decide(request, chosen, Outcome.RESTORED, _("Show these packs again?"))

    def _decide(
        self, request: HttpRequest, chosen: QuerySet[StickerPack], outcome: Outcome, title: Any
    ) -> HttpResponse | None:
        reason = asked_reason(request, chosen, title=title, action=request.POST["action"])
        if isinstance(reason, HttpResponse):
            return reason
        count = moderation.decide_each(
            chosen.values_list("pack_key", flat=True),
            outcome,
            reason=reason,
            moderator=request.user.get_username(),
            now=timezone.now(),
        )
        text = ngettext("Decided about %(count)d pack.", "Decided about %(count)d packs.", count)
        self.message_user(request, text % {"count": count})
        return None


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
