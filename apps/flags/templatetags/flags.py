"""Flags in templates: `{% load flags %}{% flag "enable_ranking_snapshot_read" as is_ranked %}…`."""

from typing import Any

from django import template

from apps.flags.gates import is_enabled_for
from apps.flags.services import is_enabled

register = template.Library()


@register.simple_tag(takes_context=True)
def flag(context: dict[str, Any], flag_name: str, subject_key: str = "") -> bool:
    """Whether the subject, or else whoever makes the request, has the feature."""
    request = context.get("request")
    if subject_key or request is None:
        return is_enabled(flag_name, subject_key=subject_key)
    return is_enabled_for(request, flag_name)
