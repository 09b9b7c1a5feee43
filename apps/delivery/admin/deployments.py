"""Plans to confirm and deployments to follow."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth import get_permission_codename
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from apps.common.admin import ReadOnlyAdmin
from apps.common.errors import DomainError
from apps.delivery.api.rollout_serializers import DeploymentDetailSerializer
from apps.delivery.models import Deployment, DeploymentPlan
from apps.delivery.rollout_state import FINAL_PHASES, TOUCHED_PHASES, Phase
from apps.delivery.services import deployments, plans


def may(request: HttpRequest, action: str, model: type[Model]) -> bool:
    """Whether the person may add or change rows of the model."""
    name = get_permission_codename(action, model._meta)
    return request.user.has_perm(f"delivery.{name}")


def require(request: HttpRequest, action: str, model: type[Model]) -> None:
    """Raise PermissionDenied for whoever may not."""
    if not may(request, action, model):
        raise PermissionDenied


@admin.register(DeploymentPlan)
class DeploymentPlanAdmin(ReadOnlyAdmin):
    """What a release would change; the page shows the difference and lets it be confirmed."""

    list_display = ["id", "environment", "release", "actor", "created_at", "expires_at"]
    list_filter = [("environment", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["environment", "release"]
    search_fields = ["environment__namespace", "actor"]

    def get_urls(self) -> list[URLPattern]:
        """The confirmation beside the usual pages."""
        confirm = self.admin_site.admin_view(require_POST(self.confirm))
        own = [path("<int:pk>/confirm/", confirm, name="delivery_deploymentplan_confirm")]
        usual: list[URLPattern] = super().get_urls()
        return own + usual

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """The plan with its coloured difference and the form that confirms it."""
        require(request, "view", DeploymentPlan)
        rows = DeploymentPlan.objects.select_related("environment", "release")
        plan = get_object_or_404(rows, pk=object_id)
        context = self.admin_site.each_context(request) | {
            "title": _("Plan for %(namespace)s") % {"namespace": plan.environment.namespace},
            "opts": self.opts,
            "plan": plan,
            "content": plans.read_plan(plan),
            "deployment": Deployment.objects.filter(plan=plan).first(),
            "is_expired": timezone.now() >= plan.expires_at,
            "may_deploy": may(request, "add", Deployment),
        }
        return TemplateResponse(request, "delivery/admin/plan.html", context)

    def confirm(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Queue the deployment and go to its page."""
        require(request, "add", Deployment)
        try:
            deployment = deployments.confirm_plan(
                pk,
                actor=request.user.get_username(),
                now=timezone.now(),
                note=request.POST.get("note", "")[:500],
                is_forced=request.POST.get("force") == "on",
            )
        except DomainError as refusal:
            self.message_user(request, told(refusal), messages.ERROR)
            return HttpResponseRedirect(reverse("admin:delivery_deploymentplan_change", args=[pk]))
        address = reverse("admin:delivery_deployment_change", args=[deployment.pk])
        return HttpResponseRedirect(address)


@admin.register(Deployment)
class DeploymentAdmin(ReadOnlyAdmin):
    """Who brought what where, how far it is, and why it went back."""

    list_display = ["id", "state", "environment", "release", "kind", "actor", "created_at"]
    list_filter = ["phase", "kind", ("environment", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["environment", "release"]
    search_fields = ["environment__namespace", "actor", "note", "error_code"]

    def get_urls(self) -> list[URLPattern]:
        """Progress as JSON and the two ways out, beside the usual pages."""
        view = self.admin_site.admin_view
        end = view(require_POST(self.end))
        own = [
            path("<int:pk>/progress/", view(self.progress), name="delivery_deployment_progress"),
            path("<int:pk>/end/", end, name="delivery_deployment_end"),
        ]
        usual: list[URLPattern] = super().get_urls()
        return own + usual

    @admin.display(description=_("state"), ordering="phase")
    def state(self, deployment: Deployment) -> SafeString:
        """Phase and progress, with the reason where there is one."""
        reason = deployment.error_code or ", ".join(r["code"] for r in deployment.reasons)
        return format_html("{} {} % {}", deployment.get_phase_display(), deployment.percent, reason)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """The deployment with its progress, reasons and timeline; refreshed while it is open."""
        require(request, "view", Deployment)
        deployment = self._found(object_id)
        phase = Phase(deployment.phase)
        context = self.admin_site.each_context(request) | {
            "title": _("Deployment %(id)s") % {"id": deployment.pk},
            "opts": self.opts,
            "deployment": deployment,
            "is_open": phase not in FINAL_PHASES,
            "may_end": may(request, "change", Deployment)
            and (phase in TOUCHED_PHASES or phase in {Phase.QUEUED, Phase.PLANNED}),
        }
        return TemplateResponse(request, "delivery/admin/deployment.html", context)

    def progress(self, request: HttpRequest, pk: int) -> JsonResponse:
        """The deployment as the API gives it, with the phase in the reader's language."""
        require(request, "view", Deployment)
        deployment = self._found(pk)
        shown = dict(DeploymentDetailSerializer(deployment).data)
        is_open = Phase(deployment.phase) not in FINAL_PHASES
        return JsonResponse(
            shown | {"phase_label": deployment.get_phase_display(), "is_open": is_open}
        )

    def end(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Cancel it while it waits, send it back once it has begun."""
        require(request, "change", Deployment)
        actor = request.user.get_username()
        try:
            deployments.abort(pk, actor=actor, now=timezone.now())
        except DomainError as refusal:
            self.message_user(request, told(refusal), messages.ERROR)
        else:
            self.message_user(request, _now("The deployment goes back."))
        return HttpResponseRedirect(reverse("admin:delivery_deployment_change", args=[pk]))

    def _found(self, pk: int | str) -> Deployment:
        rows = Deployment.objects.select_related("environment", "release", "fallback_release")
        return get_object_or_404(rows.prefetch_related("steps"), pk=pk)


def told(refusal: DomainError) -> str:
    """A refusal with the problems it lists."""
    problems = refusal.details.get("problems", [])
    return "\n".join([refusal.message, *problems])
