"""What the operator's pages of all apps share."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from unfold.admin import ModelAdmin

MAX_REASON_LENGTH = 255
MAX_SHOWN = 50


class ReadOnlyAdmin(ModelAdmin):
    """Rows that the system writes: to be looked at, found and acted upon, never edited by hand."""

    show_full_result_count = False
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nobody adds such rows here."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """The form only shows; actions declare permissions of their own."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody deletes such rows here."""
        return False


def asked_reason(
    request: HttpRequest, chosen: QuerySet[Any], *, title: str, action: str
) -> str | HttpResponse:
    """The reason given for a dangerous action, or the page that shows what it touches and asks.

    An action calls it first and returns the page when it gets one; the page posts the same action
    again with a reason, so that nothing dangerous happens by one click.
    """
    reason = request.POST.get("reason", "").strip()
    if request.POST.get("confirmed") and reason:
        return reason[:MAX_REASON_LENGTH]
    context = {
        **admin.site.each_context(request),
        "title": title,
        "action": action,
        "chosen": chosen[:MAX_SHOWN],
        "count": chosen.count(),
        "is_whole_filter": request.POST.get("select_across") == "1",
        "keys": request.POST.getlist(ACTION_CHECKBOX_NAME),
        "is_reason_missing": bool(request.POST.get("confirmed")),
        "action_checkbox_name": ACTION_CHECKBOX_NAME,
    }
    return TemplateResponse(request, "common/confirm_action.html", context)
