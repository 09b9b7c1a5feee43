"""Plans, apps and environments: lists with their neighbours, and what an app becomes."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, Model, QuerySet
from django.forms import BaseModelFormSet, ModelForm
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST
from unfold.admin import ModelAdmin, TabularInline
from unfold.decorators import action

from apps.delivery.admin import previews
from apps.delivery.admin.deploy import deploy_view
from apps.delivery.admin.forms import AppForm, EnvironmentForm, PlanForm
from apps.delivery.admin.plan_limits import PlanLimitInline, save_limits
from apps.delivery.admin.usage_page import prefill_view, usage_view
from apps.delivery.models import App, CustomDomain, Environment, Plan
from apps.delivery.services import apps as services


def page_link(row: Model, text: str) -> SafeString:
    """A link to the page of a row."""
    address = reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])
    return format_html('<a class="text-primary-600" href="{}">{}</a>', address, text)


@admin.register(Plan)
class PlanAdmin(ModelAdmin):
    """What customers contract, and how many apps follow each plan."""

    form = PlanForm
    list_display = ["name", "code", "slots", "resource_profile", "app_count", "updated_at"]
    list_filter = ["resource_profile"]
    search_fields = ["code", "name"]

    def get_inlines(
        self, request: HttpRequest, obj: Plan | None = None
    ) -> list[type[PlanLimitInline]]:
        """Limits are set once the plan is there."""
        return [] if obj is None else [PlanLimitInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Plan]:
        rows: QuerySet[Plan] = super().get_queryset(request)
        return rows.annotate(apps_total=Count("apps"))

    @admin.display(description=_("apps"), ordering="apps_total")
    def app_count(self, plan: Any) -> SafeString:
        """The number, as a link to the apps."""
        address = f"{reverse('admin:delivery_app_changelist')}?plan__id__exact={plan.pk}"
        return format_html('<a href="{}">{}</a>', address, plan.apps_total)

    def save_model(self, request: HttpRequest, obj: Plan, form: ModelForm, change: bool) -> None:
        services.save_plan(obj, actor=request.user.get_username())

    def save_formset(
        self, request: HttpRequest, form: ModelForm, formset: BaseModelFormSet, change: bool
    ) -> None:
        save_limits(formset, actor=request.user.get_username())

    def has_delete_permission(self, request: HttpRequest, obj: Plan | None = None) -> bool:
        """A plan that apps follow stays."""
        is_used = obj is not None and obj.apps.exists()
        return not is_used and super().has_delete_permission(request, obj)


class EnvironmentInline(TabularInline):
    """The environments of an app, each with a link to its page."""

    model = Environment
    fields = ["name", "page", "hostname", "performance_mode"]
    readonly_fields = fields
    extra = 0

    @admin.display(description=_("namespace"))
    def page(self, environment: Environment) -> SafeString:
        """The namespace, as a link to the environment's page."""
        return page_link(environment, environment.namespace)

    def has_add_permission(self, request: HttpRequest, obj: App | None = None) -> bool:
        """They are added on their own page, where names are proposed."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: App | None = None) -> bool:
        """What runs in the cluster is not removed by a tick here."""
        return False


@admin.register(App)
class AppAdmin(ModelAdmin):
    """The customers' programs; their objects in the cluster are named after the code."""

    form = AppForm
    list_display = ["code", "name", "plan", "pod_security", "environment_count", "updated_at"]
    list_filter = ["plan", "pod_security"]
    list_select_related = ["plan"]
    search_fields = ["code", "name", "image_repository"]
    autocomplete_fields = ["plan"]
    inlines = [EnvironmentInline]
    fieldsets = [
        (None, {"fields": ["code", "name", "plan", "image_repository"]}),
        (_("Security"), {"fields": ["pod_security", "run_as_user", "writable_paths"]}),
        (_("Network and health"), {"fields": ["egress", "liveness_path"]}),
        (_("Billing periods"), {"fields": ["time_zone", "billing_day"]}),
    ]
    actions_detail = ["usage"]

    def get_urls(self) -> list[URLPattern]:
        """The button of the usage page beside the usual pages."""
        prefill = self.admin_site.admin_view(require_POST(prefill_view))
        own = [path("<int:pk>/usage/prefill/", prefill, name="delivery_app_usage_prefill")]
        usual: list[URLPattern] = super().get_urls()
        return own + usual

    @action(  # type: ignore[untyped-decorator]  # the theme has no types
        description=_("Usage"), url_path="usage", permissions=["usage"]
    )
    def usage(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """What it used in a period, its limits and what it would pay."""
        return usage_view(request, object_id)

    def has_usage_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        """Whoever may see counters."""
        return request.user.has_perm("delivery.view_usagetotal")

    def get_queryset(self, request: HttpRequest) -> QuerySet[App]:
        rows: QuerySet[App] = super().get_queryset(request)
        return rows.annotate(environments_total=Count("environments"))

    @admin.display(description=_("environments"), ordering="environments_total")
    def environment_count(self, app: Any) -> SafeString:
        """The number, as a link to the environments."""
        address = f"{reverse('admin:delivery_environment_changelist')}?app__id__exact={app.pk}"
        return format_html('<a href="{}">{}</a>', address, app.environments_total)

    def get_readonly_fields(self, request: HttpRequest, obj: App | None = None) -> list[str]:
        return [] if obj is None else ["code"]

    def save_model(self, request: HttpRequest, obj: App, form: ModelForm, change: bool) -> None:
        services.save_app(obj, actor=request.user.get_username())

    def has_delete_permission(self, request: HttpRequest, obj: App | None = None) -> bool:
        """An app with environments stays."""
        is_used = obj is not None and obj.environments.exists()
        return not is_used and super().has_delete_permission(request, obj)


class CustomDomainInline(TabularInline):
    """The custom domains of an environment, with what is known about each."""

    model = CustomDomain
    fields = ["page", "status", "reason", "verified_at", "checked_at"]
    readonly_fields = fields
    extra = 0

    @admin.display(description=_("host name"))
    def page(self, domain: CustomDomain) -> SafeString:
        """The host, as a link to the domain's page."""
        return page_link(domain, domain.host)

    def has_add_permission(self, request: HttpRequest, obj: Environment | None = None) -> bool:
        """They are added on their own page."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Environment | None = None) -> bool:
        """They are removed on their own page."""
        return False


@admin.register(Environment)
class EnvironmentAdmin(ModelAdmin):
    """One running copy of an app, what it becomes in the cluster, and what is wrong with that."""

    form = EnvironmentForm
    list_display = ["namespace", "app", "name", "host_link", "performance_mode", "updated_at"]
    list_filter = ["performance_mode", ("app", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["app"]
    search_fields = ["namespace", "hostname", "app__code"]
    autocomplete_fields = ["app"]
    inlines = [CustomDomainInline]
    fieldsets = [
        (None, {"fields": ["app", "name", "namespace", "hostname", "performance_mode"]}),
        (_("Preview"), {"fields": ["findings", "manifests"]}),
    ]
    readonly_fields = ["findings", "manifests"]
    actions_detail = ["deploy"]

    @action(  # type: ignore[untyped-decorator]  # the theme has no types
        description=_("Deploy"), url_path="deploy", permissions=["deploy"]
    )
    def deploy(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Choose a release and see the plan."""
        return deploy_view(request, object_id)

    def has_deploy_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        """Whoever may make plans."""
        return request.user.has_perm("delivery.add_deploymentplan")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Environment]:
        rows: QuerySet[Environment] = super().get_queryset(request)
        return rows.select_related("app__plan")

    @admin.display(description=_("host name"), ordering="hostname")
    def host_link(self, environment: Environment) -> SafeString:
        """The host, as a link to what runs there."""
        host = environment.hostname
        return format_html('<a href="https://{}/" rel="noopener">{}</a>', host, host)

    @admin.display(description=_("findings"))
    def findings(self, environment: Environment) -> SafeString:
        """What a deployment would stumble over, each with its way out."""
        return previews.findings_list(environment)

    @admin.display(description=_("manifests"))
    def manifests(self, environment: Environment) -> SafeString:
        """The objects of the next deployment."""
        return previews.manifest_text(environment)

    def get_readonly_fields(
        self, request: HttpRequest, obj: Environment | None = None
    ) -> list[str]:
        fixed = [] if obj is None else ["app", "name", "namespace"]
        return [*self.readonly_fields, *fixed]

    def save_model(
        self, request: HttpRequest, obj: Environment, form: ModelForm, change: bool
    ) -> None:
        services.save_environment(obj, actor=request.user.get_username())

    def has_delete_permission(self, request: HttpRequest, obj: Environment | None = None) -> bool:
        """What runs in the cluster is not removed by deleting a row."""
        return False
