"""What the system writes is shown, never edited; personal data is masked in lists."""

from typing import Any

from django.db.models import Model
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from unfold.admin import ModelAdmin


class SystemWrittenAdmin(ModelAdmin):
    """Rows without add, delete or editable fields; actions need the change permission."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        shown = self.get_fields(request, obj)
        return [name for name in shown if isinstance(name, str)]


def lines(rows: Any) -> SafeString | str:
    """One row of text a line, or a dash when there are none."""
    return format_html_join("", "<div>{}</div>", ((row,) for row in rows)) or "–"
