"""The limits of a plan, on the plan's own page."""

from django.forms import BaseModelFormSet
from unfold.admin import TabularInline

from apps.delivery.admin.forms import PlanLimitForm
from apps.delivery.models import PlanLimit
from apps.delivery.services.usage_plans import delete_limit, save_limit


class PlanLimitInline(TabularInline):
    """What the plan includes of each metric, and what happens beyond."""

    model = PlanLimit
    form = PlanLimitForm
    extra = 0


def save_limits(formset: BaseModelFormSet, *, actor: str) -> None:
    """Hand every changed limit to its service."""
    changed = formset.save(commit=False)
    for limit in formset.deleted_objects:
        delete_limit(limit, actor=actor)
    for limit in changed:
        save_limit(limit, actor=actor)
    formset.save_m2m()
