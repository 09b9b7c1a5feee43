"""LIDs and the sign-in audit, with a tool that resolves any address."""

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action

from apps.whatsapp_auth import queries
from apps.whatsapp_auth.admin.system import SystemWrittenAdmin, readable_addresses
from apps.whatsapp_auth.choices import outcome_label
from apps.whatsapp_auth.digests import audit_digest
from apps.whatsapp_auth.jids import mask_jid, phone_variants
from apps.whatsapp_auth.login_links import to_owner_jid, to_phone_digits
from apps.whatsapp_auth.models import LidHistory, LidMapping, LoginEvent
from apps.whatsapp_auth.services.senders import resolve_sender

MAX_QUESTION_LENGTH = 128


@admin.register(LidMapping)
class LidMappingAdmin(SystemWrittenAdmin):
    """Which phone is behind a LID; “Resolve” answers for any address."""

    list_display = ["masked_lid", "masked_jid", "source", "first_seen", "last_seen"]
    list_filter = ["source", ("jid", admin.EmptyFieldListFilter)]
    search_fields = ["=lid", "=jid"]
    search_help_text = _("LID, phone or address, in full")
    ordering = ["-last_seen", "lid"]
    actions_list = ["resolve"]
    fields = ["lid", "jid", "source", "first_seen", "last_seen"]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[LidMapping], search_term: str
    ) -> tuple[QuerySet[LidMapping], bool]:
        """A phone in any spelling finds its LIDs, an address its row."""
        return _by_address(queryset, search_term), False

    @action(  # type: ignore[untyped-decorator]  # unfold ships no types
        description=_("Resolve an address"), url_path="resolve", permissions=["view"]
    )
    def resolve(self, request: HttpRequest) -> HttpResponse:
        """Answer "who is this?" for one address, with the spans in which it was so."""
        question = request.GET.get("q", "").strip()[:MAX_QUESTION_LENGTH]
        context: dict[str, Any] = {
            **self.admin_site.each_context(request),
            "title": _("Resolve an address"),
            "question": question,
        }
        if question:
            address = question if "@" in question else to_owner_jid(question) or question
            context["sender"] = resolve_sender(address, now=timezone.now())
            context["addresses"] = readable_addresses(address)
            context["spans"] = queries.lid_spans(address)
            context["accounts"] = queries.find_accounts(question)
        return TemplateResponse(request, "whatsapp_auth/admin/resolve.html", context)

    @admin.display(description=_("LID"), ordering="lid")
    def masked_lid(self, row: LidMapping) -> str:
        return mask_jid(row.lid) or "–"

    @admin.display(description=_("phone address"), ordering="jid")
    def masked_jid(self, row: LidMapping) -> str:
        return mask_jid(row.jid) or "–"


@admin.register(LidHistory)
class LidHistoryAdmin(SystemWrittenAdmin):
    """Spans in which a LID belonged to a phone."""

    list_display = ["masked_lid", "masked_jid", "source", "valid_from", "valid_to"]
    list_filter = ["source", ("valid_to", admin.EmptyFieldListFilter)]
    search_fields = ["=lid", "=jid"]
    search_help_text = _("LID, phone or address, in full")
    ordering = ["-id"]
    fields = ["lid", "jid", "source", "valid_from", "valid_to"]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[LidHistory], search_term: str
    ) -> tuple[QuerySet[LidHistory], bool]:
        """A phone in any spelling finds the spans of its LIDs."""
        return _by_address(queryset, search_term), False

    @admin.display(description=_("LID"))
    def masked_lid(self, row: LidHistory) -> str:
        return mask_jid(row.lid) or "–"

    @admin.display(description=_("phone address"))
    def masked_jid(self, row: LidHistory) -> str:
        return mask_jid(row.jid) or "–"


@admin.register(LoginEvent)
class LoginEventAdmin(SystemWrittenAdmin):
    """What came of login links; people are found by typing their phone, account or address."""

    list_display = ["occurred_at", "labelled_outcome", "actor"]
    list_filter = ["outcome"]
    date_hierarchy = "occurred_at"
    search_fields = ["outcome"]
    search_help_text = _("Phone, Google id or network address, in full")
    ordering = ["-id"]
    fields = ["occurred_at", "outcome", "actor"]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[LoginEvent], search_term: str
    ) -> tuple[QuerySet[LoginEvent], bool]:
        """The table holds digests only, so the search term is digested too."""
        term = search_term.strip()
        if not term:
            return queryset, False
        phones = [audit_digest(phone) for phone in phone_variants(to_phone_digits(term))]
        other = audit_digest(term)
        named = Q(phone_digest__in=phones) | Q(account_digest=other) | Q(address_digest=other)
        return queryset.filter(named), False

    @admin.display(description=_("outcome"), ordering="outcome")
    def labelled_outcome(self, event: LoginEvent) -> str:
        return outcome_label(event.outcome)


def _by_address(rows: QuerySet[Any], search_term: str) -> QuerySet[Any]:
    term = search_term.strip()
    if not term:
        return rows
    addresses = queries.owner_jids_of(to_owner_jid(term) or term) | {term}
    return rows.filter(Q(lid__in=addresses) | Q(jid__in=addresses))
