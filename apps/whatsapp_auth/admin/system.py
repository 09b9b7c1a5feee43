"""What the system writes is shown, never edited; personal data is masked in lists."""

from typing import Any

from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from unfold.admin import ModelAdmin

from apps.whatsapp_auth import queries


class SystemWrittenAdmin(ModelAdmin):
    """Rows without add, delete or editable fields; actions need the change permission."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Without buttons that would save nothing."""
        buttons = ("show_save", "show_save_and_continue", "show_save_and_add_another")
        context = (extra_context or {}) | dict.fromkeys(buttons, False)
        answer: HttpResponse = super().changeform_view(request, object_id, form_url, context)
        return answer

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        shown = self.get_fields(request, obj)
        return [name for name in shown if isinstance(name, str)]


def lines(rows: Any) -> SafeString | str:
    """One row of text a line, or a dash when there are none."""
    return format_html_join("", "<div>{}</div>", ((row,) for row in rows)) or "–"


def readable_addresses(owner_jid: str) -> list[str]:
    """A person's addresses, each once: other servers of the same kind say nothing more."""
    return sorted(
        jid for jid in queries.owner_jids_of(owner_jid) if not jid.endswith(("@c.us", "@hosted"))
    )
