"""The page behind the button Deploy: which release is to come to an environment."""

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from apps.common.errors import DomainError
from apps.delivery.admin.deployments import require, told
from apps.delivery.clusters import shared_cluster
from apps.delivery.models import Deployment, DeploymentPlan, Environment, Release
from apps.delivery.services.plans import make_plan


class ReleaseField(forms.ModelChoiceField):
    """Releases as number, image and note."""

    def label_from_instance(self, obj: Release) -> str:
        """What tells releases apart."""
        return " · ".join(part for part in (str(obj), obj.short_digest, obj.note) if part)


class DeployForm(forms.Form):
    """The choice of a release, newest first."""

    def __init__(
        self, environment: Environment, data: QueryDict | None = None, chosen: str = ""
    ) -> None:
        super().__init__(data)
        rows = Release.objects.filter(app_id=environment.app_id)
        self.fields["release"] = ReleaseField(rows, label=_("Release"))
        self.initial["release"] = chosen or rows.values_list("pk", flat=True).first()


def deploy_view(request: HttpRequest, object_id: str) -> HttpResponse:
    """Choose a release; the answer is a plan, and nothing has happened yet."""
    require(request, "add", DeploymentPlan)
    rows = Environment.objects.select_related("app__plan")
    environment = get_object_or_404(rows, pk=object_id)
    form = DeployForm(environment, request.POST or None, request.GET.get("release", ""))
    if request.method == "POST" and form.is_valid():
        answer = _planned(request, environment, form.cleaned_data["release"])
        if answer is not None:
            return answer
    context = admin.site.each_context(request) | {
        "title": _("Deploy to %(namespace)s") % {"namespace": environment.namespace},
        "opts": Environment._meta,
        "environment": environment,
        "form": form,
        "running": Deployment.objects.filter(active_environment=environment).first(),
    }
    return TemplateResponse(request, "delivery/admin/deploy.html", context)


def _planned(
    request: HttpRequest, environment: Environment, release: Release
) -> HttpResponse | None:
    """The way to the new plan; None when it could not be made, with the reason on the page."""
    try:
        plan = make_plan(
            environment,
            release,
            cluster=shared_cluster(),
            actor=request.user.get_username(),
            now=timezone.now(),
        )
    except DomainError as refusal:
        messages.error(request, told(refusal))
        return None
    address = reverse("admin:delivery_deploymentplan_change", args=[plan.pk])
    return HttpResponseRedirect(address)
