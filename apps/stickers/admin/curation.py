"""The operator's pages of the curation: its runs, its decisions, and the packs it made."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.decorators import action

from apps.common.admin import ReadOnlyAdmin, asked_reason
from apps.stickers.admin.charts import thumbnail
from apps.stickers.choices import CurationMode, WorkerTaskType
from apps.stickers.curation.rules import Mode
from apps.stickers.curation_queries import summary_lines, theme_reports
from apps.stickers.models import AutoPack, CurationDecision, CurationRun
from apps.stickers.services import auto_packs
from apps.stickers.services.curation import run_curation
from apps.stickers.services.worker_tasks import enqueue_task

TASK_OF = {
    Mode.ADDITIONS: WorkerTaskType.CURATION_CYCLE,
    Mode.REBUILD: WorkerTaskType.REBUILD_CYCLE,
}


@admin.register(CurationRun)
class CurationRunAdmin(ReadOnlyAdmin):
    """Runs with what they looked at and changed; each opens as a report by theme."""

    list_display = [
        "started_at",
        "mode",
        "status",
        "is_dry_run",
        "scanned_count",
        "changed_count",
        "duration_ms",
        "actor",
        "error",
    ]
    list_filter = ["mode", "status", "is_dry_run"]
    search_fields = ["actor", "error"]
    ordering = ["-pk"]
    date_hierarchy = "started_at"
    actions_list = ["ask"]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        run = get_object_or_404(CurationRun, pk=object_id)
        if not self.has_view_permission(request, run):
            raise PermissionDenied
        context = {
            **self.admin_site.each_context(request),
            "title": str(run),
            "run": run,
            "lines": summary_lines(run),
            "themes": theme_reports(run),
            "decisions_address": reverse("admin:stickers_curationdecision_changelist"),
        }
        return TemplateResponse(request, "stickers/admin/curation_run.html", context)

    def has_ask_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("stickers.change_autopack")

    @action(  # type: ignore[untyped-decorator]  # unfold ships no types
        description=_("Run the curation"), url_path="ask", permissions=["ask"]
    )
    def ask(self, request: HttpRequest) -> HttpResponse:
        """Show what a run would do, or ask a worker for one; nothing happens by looking."""
        if request.method == "POST":
            return self._run(request, Mode(request.POST.get("mode", Mode.ADDITIONS)))
        context = {
            **self.admin_site.each_context(request),
            "title": _("Run the curation"),
            "modes": CurationMode.choices,
        }
        return TemplateResponse(request, "stickers/admin/curation_ask.html", context)

    def _run(self, request: HttpRequest, mode: Mode) -> HttpResponse:
        if "plan" in request.POST:
            now, actor = timezone.now(), request.user.get_username()
            report = run_curation(mode, actor=actor, now=now, is_dry_run=True)
            return redirect("admin:stickers_curationrun_change", report.run.pk)
        is_new = enqueue_task(TASK_OF[mode], priority=90)
        asked, known = _("A worker will run the curation."), _("A run is already asked for.")
        self.message_user(request, str(asked if is_new else known))
        return redirect("admin:stickers_curationrun_changelist")


@admin.register(CurationDecision)
class CurationDecisionAdmin(ReadOnlyAdmin):
    """Which sticker went into which pack or did not, and why."""

    list_display = ["picture", "verdict", "reason", "theme_key", "pack", "score", "run"]
    list_display_links = ["verdict"]
    list_filter = ["verdict", "reason", "run__mode", "run__is_dry_run"]
    list_select_related = ["asset", "pack", "run"]
    search_fields = ["=theme_key", "=asset__sha256", "=pack__pack_key"]
    search_help_text = _("Theme, SHA-256 of a sticker or key of a pack, in full")
    ordering = ["-pk"]

    @admin.display(description=_("picture"))
    def picture(self, decision: CurationDecision) -> str:
        return thumbnail(decision.asset)


@admin.register(AutoPack)
class AutoPackAdmin(ReadOnlyAdmin):
    """Automatic packs: their state, what operators said of them, and why they hold what they do."""

    list_display = [
        "cover",
        "name",
        "pack_theme_key",
        "pack_status",
        "status",
        "item_count",
        "is_paused",
        "is_approved",
        "last_rebalanced_at",
        "decisions",
    ]
    list_display_links = ["name"]
    list_filter = ["pack_status", "status", "auto_control__is_paused", "auto_control__is_approved"]
    list_select_related = ["cover_sticker", "auto_control"]
    search_fields = ["pack_key", "pack_theme_key", "name"]
    ordering = ["-last_rebalanced_at", "pk"]
    fields = [
        "name",
        "pack_key",
        "owner_jid",
        "pack_theme_key",
        "pack_volume",
        "pack_status",
        "status",
        "version",
        "last_rebalanced_at",
        "deleted_at",
    ]
    actions = ["pause", "resume", "approve"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        packs: QuerySet[Any] = super().get_queryset(request)
        counted: QuerySet[Any] = packs.annotate(item_total=Count("items"))
        return counted

    @admin.display(description=_("cover"))
    def cover(self, pack: AutoPack) -> str:
        return thumbnail(pack.cover_sticker)

    @admin.display(description=_("stickers"), ordering="item_total")
    def item_count(self, pack: Any) -> int:
        return int(pack.item_total)

    @admin.display(description=_("paused"), boolean=True)
    def is_paused(self, pack: AutoPack) -> bool:
        control = getattr(pack, "auto_control", None)
        return bool(control and control.is_paused)

    @admin.display(description=_("approved"), boolean=True)
    def is_approved(self, pack: AutoPack) -> bool:
        control = getattr(pack, "auto_control", None)
        return bool(control and control.is_approved)

    @admin.display(description=_("decisions"))
    def decisions(self, pack: AutoPack) -> str:
        address = reverse("admin:stickers_curationdecision_changelist")
        return format_html('<a href="{}?q={}">{}</a>', address, pack.pack_key, _("why"))

    def has_decide_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("stickers.change_autopack")

    @admin.action(description=_("Pause the selected packs"), permissions=["decide"])
    def pause(self, request: HttpRequest, chosen: QuerySet[AutoPack]) -> HttpResponse | None:
        title = str(_("Pause these packs and their themes?"))
        return self._decide(request, chosen, auto_packs.pause_packs, title=title, name="pause")

    @admin.action(description=_("Resume the selected packs"), permissions=["decide"])
    def resume(self, request: HttpRequest, chosen: QuerySet[AutoPack]) -> HttpResponse | None:
        title = str(_("Give these packs back to the curation?"))
        return self._decide(request, chosen, auto_packs.resume_packs, title=title, name="resume")

    @admin.action(description=_("Approve the selected packs"), permissions=["decide"])
    def approve(self, request: HttpRequest, chosen: QuerySet[AutoPack]) -> HttpResponse | None:
        title = str(_("Publish these packs once they are complete?"))
        return self._decide(request, chosen, auto_packs.approve_packs, title=title, name="approve")

    def _decide(
        self,
        request: HttpRequest,
        chosen: QuerySet[AutoPack],
        service: Any,
        *,
        title: str,
        name: str,
    ) -> HttpResponse | None:
        reason = asked_reason(request, chosen, title=title, action=name)
        if isinstance(reason, HttpResponse):
            return reason
        ids = list(chosen.values_list("pk", flat=True))
        count = service(ids, actor=request.user.get_username(), reason=reason, now=timezone.now())
        text = ngettext("%(count)d pack decided.", "%(count)d packs decided.", count)
        self.message_user(request, text % {"count": count})
        return None
