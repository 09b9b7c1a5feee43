"""What operators type in about apps, checked by the services that will store it."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.utils.translation import gettext_lazy as _

from apps.common.forms import CheckedForm, LinesField, OptionalJSONField
from apps.delivery.models import App, CustomDomain, Environment, Plan, PlanLimit
from apps.delivery.services import apps as services
from apps.delivery.services.custom_domains import check_addition
from apps.delivery.services.usage_plans import check_limit


class PlanForm(CheckedForm):
    """A plan, checked as part of a context."""

    names: ClassVar[Mapping[str, str]] = {
        "replicas": "slots",
        "functional_capabilities": "capabilities",
    }

    class Meta:
        model = Plan
        fields = ["code", "name", "slots", "resource_profile", "capabilities"]

    def ask_rules(self) -> None:
        services.check_plan(self.instance)


class AppForm(CheckedForm):
    """An app, checked as part of a context."""

    writable_paths = LinesField(
        label=_("Writable folders"),
        required=False,
        help_text=_("One path a line; each gets a temporary volume."),
    )
    egress = OptionalJSONField(
        label=_("Outgoing connections"),
        required=False,
        help_text=_(
            'Rules such as [{"name": "crm", "ports": [443], "cidrs": ["203.0.113.0/24"]}]; '
            "empty: HTTPS and MongoDB anywhere."
        ),
    )
    names: ClassVar[Mapping[str, str]] = {"app_code": "code"}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Forms that leave them out mean the default, as the API does.
        for name in ("time_zone", "billing_day"):
            if name in self.fields:
                self.fields[name].required = False

    class Meta:
        model = App
        fields = [
            "code",
            "name",
            "plan",
            "image_repository",
            "pod_security",
            "run_as_user",
            "writable_paths",
            "egress",
            "liveness_path",
            "time_zone",
            "billing_day",
        ]

    def ask_rules(self) -> None:
        services.check_app(self.instance)


class EnvironmentForm(CheckedForm):
    """An environment; an empty namespace or host name gets its usual one."""

    class Meta:
        model = Environment
        fields = ["app", "name", "namespace", "hostname", "performance_mode"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("namespace", "hostname"):
            if name in self.fields:
                self.fields[name].required = False

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if {"app", "name"} <= cleaned.keys():
            probe = Environment(app=cleaned["app"], name=cleaned["name"])
            cleaned["namespace"] = cleaned.get("namespace") or services.default_namespace(probe)
            cleaned["hostname"] = cleaned.get("hostname") or services.default_hostname(probe)
        return cleaned

    def ask_rules(self) -> None:
        services.check_environment(self.instance)


class CustomDomainForm(CheckedForm):
    """A host that a customer brings."""

    class Meta:
        model = CustomDomain
        fields = ["environment", "host"]

    def ask_rules(self) -> None:
        check_addition(self.instance.environment, self.instance.host)


class PlanLimitForm(CheckedForm):
    """What a plan says about a metric; contradictions are shown at the field that has them."""

    class Meta:
        model = PlanLimit
        fields = [
            "metric_code",
            "included",
            "on_limit",
            "overage_mode",
            "price_minor",
            "block_size",
            "soft_limit",
            "hard_limit",
        ]

    def ask_rules(self) -> None:
        check_limit(self.instance)
