"""The rollout desk: flags, whom they reach, how they came to be so, and what is planned."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldAdminTextInputWidget

from apps.common.admin import ReadOnlyAdmin, asked_reason
from apps.common.forms import CheckedForm, LinesField
from apps.flags import charts, queries, services
from apps.flags.evaluation import FULL_PERCENT, FlagDefinition, evaluate_within, with_rule
from apps.flags.models import FeatureFlag, FlagChange, FlagRule, FlagUsage, RolloutStep
from apps.flags.services.changing import RULE_FIELDS

# A jump by more than this many points is announced as risky.
RISKY_POINTS = 25
SHOWN_CHANGES = 10
STALE_AFTER = timedelta(days=30)


class StaleFilter(admin.SimpleListFilter):
    """Flags that could be removed: expired, settled or unused for a month."""

    title = gettext_lazy("could be removed")
    parameter_name = "stale"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        """One choice: only those."""
        return [("yes", gettext_lazy("yes"))]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[FeatureFlag]
    ) -> QuerySet[FeatureFlag]:
        """The stale ones, when asked for."""
        if self.value() != "yes":
            return queryset
        rows = queries.stale_flags(now=timezone.now(), unchanged_for=STALE_AFTER)
        return queryset.filter(flag_name__in=[row.flag_name for row in rows])


class FlagForm(forms.ModelForm):
    """A flag's row with a slider for its percentage, and the reason of the change."""

    reason = forms.CharField(
        max_length=255,
        required=False,
        label=gettext_lazy("Reason of this change"),
        widget=UnfoldAdminTextInputWidget,
    )

    class Meta:
        model = FeatureFlag
        fields = ["flag_name", "description", "is_enabled", "rollout_percent"]
        widgets = {
            "rollout_percent": forms.NumberInput(
                attrs={"type": "range", "min": 0, "max": FULL_PERCENT, "data-rollout": ""}
            )
        }


class RuleForm(CheckedForm):
    """A rule with its lists one entry a line, checked as the service will check it."""

    allowed = LinesField(label=gettext_lazy("always on for"), required=False)
    denied = LinesField(label=gettext_lazy("always off for"), required=False)
    prerequisites = LinesField(label=gettext_lazy("only where these are on"), required=False)
    tags = LinesField(label=gettext_lazy("tags"), required=False)

    class Meta:
        model = FlagRule
        # Killing has an action of its own, which asks twice.
        fields = ["flag_name", *(name for name in RULE_FIELDS if name != "is_killed")]

    def ask_rules(self) -> None:
        """Refuse unknown flags, circles and shares out of range."""
        services.check_rule(self.instance)


@admin.register(FeatureFlag)
class FeatureFlagAdmin(ModelAdmin):
    """Flags; every change goes through the service, which notes who made it and why."""

    form = FlagForm
    list_display = ["flag_name", "is_enabled", "rollout_percent", "updated_by", "updated_at"]
    list_filter = ["is_enabled", StaleFilter]
    search_fields = ["flag_name", "description"]
    ordering = ["flag_name"]
    actions = ["kill", "revive"]
    change_form_after_template = "flags/admin_desk.html"
    fieldsets = [
        (None, {"fields": ["flag_name", "description"]}),
        (gettext_lazy("Rollout"), {"fields": ["is_enabled", "rollout_percent", "reason"]}),
        (gettext_lazy("Last change"), {"fields": ["updated_by", "updated_at", "created_at"]}),
    ]

    class Media:
        js = ["flags/rollout.js"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """A name is given once: code refers to it."""
        return ["updated_by", "updated_at", "created_at", *(["flag_name"] if obj else [])]

    def get_urls(self) -> list[URLPattern]:
        """The desk's own address beside the usual ones."""
        preview = self.admin_site.admin_view(self.preview)
        own = [path("<int:pk>/preview/", preview, name="flags_featureflag_preview")]
        return [*own, *super().get_urls()]

    def preview(self, request: HttpRequest, pk: int) -> JsonResponse:
        """Of 10,000 subjects, how many would be in at another percentage, as JSON."""
        flag = self.get_object(request, str(pk))
        if flag is None or not self.has_view_permission(request, flag):
            return JsonResponse({}, status=404)
        percent = min(FULL_PERCENT, max(0, int(request.GET.get("percent") or 0)))
        definition = _definition(flag, percent)
        return JsonResponse(
            {
                "count": queries.preview_count(definition, services.snapshot()),
                "of": queries.PREVIEW_SUBJECTS,
            }
        )

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """The form, and below it the desk: test a subject, history, plan, log."""
        flag = self.get_object(request, object_id)
        context = dict(extra_context or {})
        if flag is not None:
            context |= _desk(flag, request.GET.get("subject", ""))
        response: HttpResponse = super().change_view(request, object_id, form_url, context)
        return response

    def save_model(self, request: HttpRequest, obj: FeatureFlag, form: Any, change: bool) -> None:
        """Change the flag by the service, and say so when the jump is risky."""
        before = FeatureFlag.objects.filter(pk=obj.pk).first()
        saved = services.set_flag(
            obj.flag_name,
            actor=request.user.get_username(),
            is_enabled=obj.is_enabled,
            rollout_percent=obj.rollout_percent,
            description=obj.description,
            reason=form.cleaned_data.get("reason", ""),
        )
        obj.pk = saved.pk
        jump = _reach(saved) - (_reach(before) if before else 0)
        if jump > RISKY_POINTS:
            text = _("This reaches %(points)d %% more subjects at once; watch it closely.")
            self.message_user(request, text % {"points": jump}, messages.WARNING)

    def delete_model(self, request: HttpRequest, obj: FeatureFlag) -> None:
        """Delete the flag by the service."""
        services.delete_flag(obj.flag_name, actor=request.user.get_username())

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[FeatureFlag]) -> None:
        """The same for several."""
        for flag in queryset:
            self.delete_model(request, flag)

    @admin.action(description=gettext_lazy("Kill: off for everybody"), permissions=["change"])
    def kill(self, request: HttpRequest, chosen: QuerySet[FeatureFlag]) -> HttpResponse | None:
        """Switch flags off at once, with a reason."""
        reason = asked_reason(request, chosen, title=_("Kill these flags?"), action="kill")
        if isinstance(reason, HttpResponse):
            return reason
        names = [flag.flag_name for flag in chosen]
        count = services.kill_flags(names, actor=request.user.get_username(), reason=reason)
        text = ngettext("%(count)d flag killed.", "%(count)d flags killed.", count)
        self.message_user(request, text % {"count": count})
        return None

    @admin.action(description=gettext_lazy("Revive killed flags"), permissions=["change"])
    def revive(self, request: HttpRequest, chosen: QuerySet[FeatureFlag]) -> HttpResponse | None:
        """Take the kill switch back, with a reason."""
        reason = asked_reason(request, chosen, title=_("Revive these flags?"), action="revive")
        if isinstance(reason, HttpResponse):
            return reason
        names = [flag.flag_name for flag in chosen]
        count = services.revive_flags(names, actor=request.user.get_username(), reason=reason)
        text = ngettext("%(count)d flag revived.", "%(count)d flags revived.", count)
        self.message_user(request, text % {"count": count})
        return None


@admin.register(FlagRule)
class FlagRuleAdmin(ModelAdmin):
    """Rules beside flags: lists, fine shares, prerequisites, owners."""

    list_display = ["flag_name", "is_killed", "rollout_units", "owner", "expires_on"]
    form = RuleForm
    list_filter = ["is_killed", "is_client_visible", "owner"]
    search_fields = ["flag_name", "owner"]
    readonly_fields = ["is_killed"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """The kill switch is an action of the flag; the name is given once."""
        return ["is_killed", *(["flag_name"] if obj else [])]

    def save_model(self, request: HttpRequest, obj: FlagRule, form: Any, change: bool) -> None:
        """Change the rule by the service."""
        values = {name: getattr(obj, name) for name in form.changed_data if name != "flag_name"}
        rule = services.set_rule(obj.flag_name, actor=request.user.get_username(), **values)
        obj.pk = rule.pk


@admin.register(FlagChange)
class FlagChangeAdmin(ReadOnlyAdmin):
    """Who changed what, when and why; a change can be taken back."""

    list_display = ["flag_name", "action", "actor", "reason", "created_at"]
    list_filter = ["action"]
    search_fields = ["flag_name", "actor", "request_id"]
    actions = ["revert"]

    def has_revert_permission(self, request: HttpRequest) -> bool:
        """Whoever may change flags may take changes back."""
        return request.user.has_perm("flags.change_featureflag")

    @admin.action(description=gettext_lazy("Take these changes back"), permissions=["revert"])
    def revert(self, request: HttpRequest, chosen: QuerySet[FlagChange]) -> HttpResponse | None:
        """Bring flags back to what they were before, newest change first."""
        reason = asked_reason(request, chosen, title=_("Take these back?"), action="revert")
        if isinstance(reason, HttpResponse):
            return reason
        revertible = [change for change in chosen.order_by("-pk") if change.before]
        for change in revertible:
            services.revert_change(change.pk, actor=request.user.get_username(), reason=reason)
        count = len(revertible)
        text = ngettext("%(count)d change taken back.", "%(count)d changes taken back.", count)
        self.message_user(request, text % {"count": count})
        return None


@admin.register(RolloutStep)
class RolloutStepAdmin(ReadOnlyAdmin):
    """Planned percentages; they are planned over the API, and can be given up here."""

    list_display = ["flag_name", "rollout_percent", "due_at", "status", "actor", "applied_at"]
    list_filter = ["status"]
    search_fields = ["flag_name", "actor"]
    actions = ["pause", "resume", "abort"]

    def has_plan_permission(self, request: HttpRequest) -> bool:
        """Whoever may change flags may change plans."""
        return request.user.has_perm("flags.change_featureflag")

    @admin.action(description=gettext_lazy("Pause these rollouts"), permissions=["plan"])
    def pause(self, request: HttpRequest, chosen: QuerySet[RolloutStep]) -> None:
        """Stop what is still to come."""
        self._move(request, chosen, services.pause_rollout)

    @admin.action(description=gettext_lazy("Resume these rollouts"), permissions=["plan"])
    def resume(self, request: HttpRequest, chosen: QuerySet[RolloutStep]) -> None:
        """Take paused steps up again."""
        self._move(request, chosen, services.resume_rollout)

    @admin.action(description=gettext_lazy("Abort these rollouts"), permissions=["plan"])
    def abort(self, request: HttpRequest, chosen: QuerySet[RolloutStep]) -> None:
        """Give up what is still to come."""
        self._move(request, chosen, services.abort_rollout)

    def _move(
        self, request: HttpRequest, chosen: QuerySet[RolloutStep], move: Callable[..., int]
    ) -> None:
        actor = request.user.get_username()
        count = sum(move(name, actor=actor) for name in _names(chosen))
        text = ngettext("%(count)d step changed.", "%(count)d steps changed.", count)
        self.message_user(request, text % {"count": count})


@admin.register(FlagUsage)
class FlagUsageAdmin(ReadOnlyAdmin):
    """When flags were last asked for."""

    list_display = ["flag_name", "last_evaluated_on"]
    search_fields = ["flag_name"]
    ordering = ["last_evaluated_on"]


def _names(chosen: QuerySet[RolloutStep]) -> list[str]:
    return sorted(set(chosen.values_list("flag_name", flat=True)))


def _reach(flag: FeatureFlag) -> int:
    """The share of subjects that have the feature, in percent."""
    return flag.rollout_percent if flag.is_enabled else 0


def _definition(flag: FeatureFlag, percent: int) -> FlagDefinition:
    known = services.snapshot().get(flag.flag_name)
    definition = FlagDefinition(flag.flag_name, flag.is_enabled, percent)
    return with_rule(definition, known.rule if known else None)


def _preview(definition: FlagDefinition) -> dict[str, int]:
    count = queries.preview_count(definition, services.snapshot())
    return {"count": count, "of": queries.PREVIEW_SUBJECTS}


def _desk(flag: FeatureFlag, subject: str) -> dict[str, Any]:
    definition = _definition(flag, flag.rollout_percent)
    found = evaluate_within(services.snapshot(), definition, subject) if subject else None
    return {
        "subject": subject,
        "found": found,
        "preview": _preview(definition),
        "chart": charts.step_line(queries.percent_history(flag.flag_name)),
        "steps": RolloutStep.objects.filter(flag_name=flag.flag_name),
        "changes": FlagChange.objects.filter(flag_name=flag.flag_name)[:SHOWN_CHANGES],
        "rule": FlagRule.objects.filter(flag_name=flag.flag_name).first(),
    }
