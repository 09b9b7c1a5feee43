"""Forms that show a refusal of the rules at the field that caused it."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextareaWidget

from apps.common.errors import DomainError
from apps.delivery.models import App, CustomDomain, Environment, Plan
from apps.delivery.services import apps as services
from apps.delivery.services.custom_domains import check_addition


class LinesField(forms.CharField):
    """A list of short texts, one a line."""

    widget = UnfoldAdminTextareaWidget(attrs={"rows": 5})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(map(str, value)) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        return [line.strip() for line in (value or "").splitlines() if line.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool((initial or []) != self.to_python(data))


class OptionalJSONField(forms.JSONField):
    """JSON that may be missing; then the box is empty instead of saying null."""

    widget = UnfoldAdminTextareaWidget(attrs={"rows": 5})

    def prepare_value(self, value: Any) -> Any:
        return "" if value is None else super().prepare_value(value)


class CheckedForm(forms.ModelForm):
    """A model form that asks the rules while it is cleaned, so that no save fails on them."""

    # What a rule calls a field, by the name that the form knows it under.
    names: ClassVar[Mapping[str, str]] = {}

    def ask_rules(self) -> None:
        """Raise the refusal of the service that would store the instance."""
        raise NotImplementedError

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]  # the stubs leave this hook out
        if self.errors:
            return
        try:
            self.ask_rules()
        except DomainError as error:
            named = str(error.details.get("field", ""))
            field = self.names.get(named, named)
            self.add_error(field if field in self.fields else None, error.message)


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
