"""The operator's pages of the outbox: what waits, what died, who decided what."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.timesince import timesince
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.admin import ModelAdmin

from apps.common.admin import ReadOnlyAdmin, asked_reason
from apps.common.errors import DomainError
from apps.outbox.dashboard import dashboard
from apps.outbox.events import HELD_UNTIL
from apps.outbox.forms import RedriveForm
from apps.outbox.models import OutboxDeadLetter, OutboxEvent, PausedType, RedriveLog
from apps.outbox.queries import timeline
from apps.outbox.services import discard, edit_and_redrive, pause_type, redrive, resume_type


@admin.register(OutboxEvent)
class OutboxEventAdmin(ReadOnlyAdmin):
    """Events with their state and age."""

    list_display = ["id", "event_type", "aggregate_id", "state", "age", "attempts", "last_error"]
    list_filter = ["status", "event_type"]
    search_fields = ["=id", "aggregate_id", "idempotency_key"]
    ordering = ["-pk"]
    list_before_template = "outbox/admin/events.html"

    def get_urls(self) -> list[URLPattern]:
        """The dashboard beside the list."""
        page = self.admin_site.admin_view(self.show_dashboard)
        ours = path("dashboard/", page, name="outbox_dashboard")
        return [ours, *super().get_urls()]

    def show_dashboard(self, request: HttpRequest) -> HttpResponse:
        """Throughput, age, depth, latency and what fails."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        context = {
            **self.admin_site.each_context(request),
            "title": _("Outbox"),
            "figures": dashboard(now=timezone.now()),
        }
        return TemplateResponse(request, "outbox/admin/dashboard.html", context)

    @admin.display(description=_("state"), ordering="status")
    def state(self, event: OutboxEvent) -> str:
        is_held = event.available_at == HELD_UNTIL
        return str(_("held back")) if is_held else event.get_status_display()

    @admin.display(description=_("age"), ordering="created_at")
    def age(self, event: OutboxEvent) -> str:
        return timesince(event.created_at, timezone.now())


@admin.register(OutboxDeadLetter)
class OutboxDeadLetterAdmin(ReadOnlyAdmin):
    """Events that used up their attempts: read the reason, mend the cause, decide."""

    list_display = ["event", "event_type", "aggregate_id", "attempts", "last_error", "failed_at"]
    list_display_links = ["event_type"]
    list_filter = ["event_type"]
    search_fields = ["=outbox_event_id", "aggregate_id"]
    ordering = ["-failed_at"]
    actions = ["redrive", "discard"]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """The letter with its payload and timeline, and the form that sends it back."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        letter = get_object_or_404(OutboxDeadLetter, pk=object_id)
        event = get_object_or_404(OutboxEvent, pk=letter.outbox_event_id)
        form = RedriveForm(event, request.POST or None)
        if request.method == "POST":
            if not self.has_redrive_permission(request):
                raise PermissionDenied
            if form.is_valid() and self._sent_back(request, event, form):
                return HttpResponseRedirect(reverse("admin:outbox_outboxdeadletter_changelist"))
        context = {
            **self.admin_site.each_context(request),
            "title": _("Dead letter %(type)s %(id)s") % {"type": event.event_type, "id": event.pk},
            "opts": self.opts,
            "event": event,
            "timeline": timeline(event),
            "form": form,
            "may_redrive": self.has_redrive_permission(request),
        }
        return TemplateResponse(request, "outbox/admin/dead_letter.html", context)

    def _sent_back(self, request: HttpRequest, event: OutboxEvent, form: RedriveForm) -> bool:
        """Whether the service took it; what it refuses is shown beside the form."""
        wish = form.cleaned_data
        decision = {
            "actor": request.user.get_username(),
            "reason": wish["reason"],
            "handler": wish["handler"] or None,
        }
        try:
            if form.is_edited:
                edit_and_redrive(event.pk, wish["payload"], **decision)
            else:
                redrive([event.pk], **decision)
        except DomainError as refusal:
            form.add_error("payload", refusal.message)
            return False
        self.message_user(request, _("The event was sent back."), messages.SUCCESS)
        return True

    @admin.display(description=_("event"))
    def event(self, letter: OutboxDeadLetter) -> str:
        address = reverse("admin:outbox_outboxevent_change", args=[letter.outbox_event_id])
        return format_html('<a href="{}">{}</a>', address, letter.outbox_event_id)

    def has_redrive_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("outbox.change_outboxevent")

    def has_discard_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("outbox.delete_outboxevent")

    @admin.action(description=_("Send the selected events back"), permissions=["redrive"])
    def redrive(
        self, request: HttpRequest, chosen: QuerySet[OutboxDeadLetter]
    ) -> HttpResponse | None:
        title = str(_("Send these events back?"))
        reason = asked_reason(request, chosen, title=title, action="redrive")
        if isinstance(reason, HttpResponse):
            return reason
        moved = redrive(_event_ids(chosen), actor=request.user.get_username(), reason=reason)
        text = ngettext("%(count)d event sent back.", "%(count)d events sent back.", len(moved))
        self.message_user(request, text % {"count": len(moved)})
        return None

    @admin.action(description=_("Discard the selected events for good"), permissions=["discard"])
    def discard(
        self, request: HttpRequest, chosen: QuerySet[OutboxDeadLetter]
    ) -> HttpResponse | None:
        title = str(_("Discard these events for good?"))
        reason = asked_reason(request, chosen, title=title, action="discard")
        if isinstance(reason, HttpResponse):
            return reason
        gone = discard(_event_ids(chosen), actor=request.user.get_username(), reason=reason)
        text = ngettext("%(count)d event discarded.", "%(count)d events discarded.", len(gone))
        self.message_user(request, text % {"count": len(gone)})
        return None


@admin.register(PausedType)
class PausedTypeAdmin(ModelAdmin):
    """Types that workers leave alone; adding one pauses it, deleting it resumes it."""

    list_display = ["event_type", "paused_by", "reason", "paused_at"]
    fields = ["event_type", "reason"]

    def has_change_permission(self, request: HttpRequest, obj: PausedType | None = None) -> bool:
        """A pause is made or ended, never changed."""
        return False

    def save_model(self, request: HttpRequest, obj: PausedType, form: object, change: bool) -> None:
        """Pause the type in the name of whoever asks."""
        pause_type(obj.event_type, actor=request.user.get_username(), reason=obj.reason)

    def delete_model(self, request: HttpRequest, obj: PausedType) -> None:
        """Take the type up again."""
        resume_type(obj.event_type)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[PausedType]) -> None:
        """Take the chosen types up again."""
        for paused in queryset:
            resume_type(paused.event_type)


@admin.register(RedriveLog)
class RedriveLogAdmin(ReadOnlyAdmin):
    """Who sent back or discarded what, and why."""

    list_display = ["event_id", "event_type", "action", "actor", "reason", "created_at"]
    list_filter = ["action", "event_type"]
    search_fields = ["=event_id", "actor"]


def _event_ids(chosen: QuerySet[OutboxDeadLetter]) -> list[int]:
    return [pk for pk in chosen.values_list("outbox_event_id", flat=True) if pk is not None]
