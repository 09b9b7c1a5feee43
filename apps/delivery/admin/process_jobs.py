"""Process jobs in the admin: what waits, runs and failed, who works, and who decided what."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.forms import ModelForm, URLField
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST
from unfold.admin import ModelAdmin

from apps.common.admin import MAX_REASON_LENGTH, ReadOnlyAdmin
from apps.common.errors import DomainError
from apps.delivery import mongodb
from apps.delivery.choices import ProcessJobActionKind
from apps.delivery.models import ProcessJobAction, RemoteRunner
from apps.delivery.process_jobs.inspection import STATES, JobRow, JobRows, depth, job_named
from apps.delivery.process_jobs.workers import worker_rows
from apps.delivery.services import process_job_actions, remote_runners

JOBS_PER_PAGE = 50
DANGEROUS = {ProcessJobActionKind.CANCEL, ProcessJobActionKind.DISCARD}
BUTTONS = {
    "pending": [
        (ProcessJobActionKind.RUN_NOW, _("Run now")),
        (ProcessJobActionKind.CANCEL, _("Cancel")),
    ],
    "failed": [
        (ProcessJobActionKind.RETRY, _("Try again")),
        (ProcessJobActionKind.DISCARD, _("Discard")),
    ],
}


@admin.register(ProcessJobAction)
class ProcessJobActionAdmin(ReadOnlyAdmin):
    """The log of decisions; the jobs themselves are on a page beside it."""

    list_display = ["created_at", "action", "model_name", "selectors", "actor", "reason"]
    list_filter = ["action"]
    search_fields = ["=job_id", "model_name", "actor"]
    list_before_template = "delivery/admin/process_job_log.html"

    def get_urls(self) -> list[URLPattern]:
        """The list of jobs and the decisions about them."""
        view = self.admin_site.admin_view
        ours = [
            path("jobs/", view(self.show_jobs), name="delivery_process_jobs"),
            path(
                "jobs/decide/", view(require_POST(self.decide)), name="delivery_process_job_decide"
            ),
        ]
        usual: list[URLPattern] = super().get_urls()
        return ours + usual

    def show_jobs(self, request: HttpRequest) -> HttpResponse:
        """Jobs by state, and the workers."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        context = {
            **self.admin_site.each_context(request),
            "title": _("Process jobs"),
            "opts": self.opts,
            "states": STATES,
            "state": request.GET.get("state", ""),
            **self._found(request),
        }
        return TemplateResponse(request, "delivery/admin/process_jobs.html", context)

    def _found(self, request: HttpRequest) -> dict[str, Any]:
        """Jobs and workers, or why there are none to show."""
        if not mongodb.is_configured():
            return {"is_in_memory": True}
        state = request.GET.get("state", "")
        try:
            with mongodb.answering() as database:
                rows: Any = JobRows(database, state=state if state in STATES else "")
                page: Any = Paginator(rows, JOBS_PER_PAGE).get_page(request.GET.get("page"))
                return {
                    "page": page,
                    "jobs": [(job, self._buttons(request, job)) for job in page],
                    "depth": depth(database),
                    "workers": worker_rows(database),
                }
        except DomainError as refusal:
            return {"problem": refusal.message}

    def _buttons(self, request: HttpRequest, job: JobRow) -> list[tuple[str, Any]]:
        return [
            (kind.value, label) for kind, label in BUTTONS.get(job.state, []) if _may(request, kind)
        ]

    def decide(self, request: HttpRequest) -> HttpResponse:
        """Ask for a reason, with the job in sight; then do it."""
        kind = _kind(request)
        if not _may(request, kind):
            raise PermissionDenied
        job_id, reason = request.POST.get("job", ""), request.POST.get("reason", "").strip()
        try:
            if not reason:
                return self._asked(request, kind, job_id)
            changed = process_job_actions.act(
                kind,
                [job_id],
                actor=request.user.get_username(),
                reason=reason[:MAX_REASON_LENGTH],
            )
        except DomainError as refusal:
            self.message_user(request, refusal.message, messages.ERROR)
        else:
            text = ngettext("%(count)d job changed.", "%(count)d jobs changed.", len(changed))
            self.message_user(request, text % {"count": len(changed)})
        return HttpResponseRedirect(reverse("admin:delivery_process_jobs"))

    def _asked(self, request: HttpRequest, kind: ProcessJobActionKind, job_id: str) -> HttpResponse:
        with mongodb.answering() as database:
            job = job_named(database, job_id)
        context = {
            **self.admin_site.each_context(request),
            "title": dict(BUTTONS.get(job.state, [])).get(kind, kind.label),
            "opts": self.opts,
            "job": job,
            "action": kind.value,
            "is_dangerous": kind in DANGEROUS,
            "is_reason_missing": "reason" in request.POST,
        }
        return TemplateResponse(request, "delivery/admin/process_job_decide.html", context)


class RemoteRunnerForm(ModelForm):
    """An address without a scheme means https."""

    url = URLField(label=_("URL"), max_length=500, assume_scheme="https")

    class Meta:
        model = RemoteRunner
        fields = ["app", "model_name", "url", "timeout_seconds", "is_active"]


@admin.register(RemoteRunner)
class RemoteRunnerAdmin(ModelAdmin):
    """Models whose jobs an app runs; the secret is shown once, when it is made."""

    form = RemoteRunnerForm
    list_display = ["model_name", "app", "url", "timeout_seconds", "is_active"]
    list_filter = ["is_active", ("app", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["app"]
    search_fields = ["model_name", "url", "app__code"]
    autocomplete_fields = ["app"]
    fields = ["app", "model_name", "url", "timeout_seconds", "is_active", "created_by"]
    readonly_fields = ["created_by"]

    def save_model(
        self, request: HttpRequest, obj: RemoteRunner, form: ModelForm, change: bool
    ) -> None:
        """Write through the service, and show a fresh secret."""
        if change:
            obj.save()
            remote_runners.known_models.clear()
            return
        made = remote_runners.declare(
            obj.app,
            obj.model_name,
            obj.url,
            timeout_seconds=obj.timeout_seconds,
            actor=request.user.get_username(),
        )
        obj.pk = made.pk
        text = _("The secret that signs calls, shown only now: %(secret)s")
        self.message_user(request, text % {"secret": made.secret}, messages.WARNING)


def _kind(request: HttpRequest) -> ProcessJobActionKind:
    try:
        return ProcessJobActionKind(request.POST.get("action", ""))
    except ValueError as error:
        raise PermissionDenied from error


def _may(request: HttpRequest, kind: ProcessJobActionKind) -> bool:
    verb = "delete" if kind in DANGEROUS else "change"
    return request.user.has_perm(f"delivery.{verb}_processjobaction")
