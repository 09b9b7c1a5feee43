"""People: accounts with all that belongs to them, their sessions, and bans."""

from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.admin import ModelAdmin

from apps.whatsapp_auth import queries
from apps.whatsapp_auth.admin.system import SystemWrittenAdmin, lines, readable_addresses
from apps.whatsapp_auth.choices import outcome_label
from apps.whatsapp_auth.digests import SESSION_REF_LENGTH
from apps.whatsapp_auth.jids import mask_jid
from apps.whatsapp_auth.models import Ban, GoogleSession, GoogleUser
from apps.whatsapp_auth.services import bans, sessions
from apps.whatsapp_auth.services.logins import mask_email


@admin.register(GoogleUser)
class GoogleUserAdmin(SystemWrittenAdmin):
    """A person on one page: account, phone, LIDs, sessions, bans and what happened lately."""

    list_display = ["masked_email", "masked_owner", "last_login_at", "last_seen_at"]
    search_fields = ["google_sub", "email"]
    search_help_text = _("Google id, e-mail, phone, LID or address")
    ordering = ["-last_seen_at", "google_sub"]
    actions = ["end_all_sessions"]
    fields = [
        "google_sub",
        "email",
        "name",
        "owner_jid",
        "owner_phone",
        "created_at",
        "last_login_at",
        "last_seen_at",
        "addresses",
        "lid_spans",
        "open_sessions",
        "present_ban",
        "recent_events",
    ]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[GoogleUser], search_term: str
    ) -> tuple[QuerySet[GoogleUser], bool]:
        """Exact names through the one look-up of people; anything else by the start of the text."""
        found = queries.find_accounts(search_term.strip()) if search_term.strip() else None
        if found is not None and found.exists():
            return queryset.filter(pk__in=found.values("pk")), False
        results: tuple[QuerySet[GoogleUser], bool] = super().get_search_results(
            request, queryset, search_term
        )
        return results

    @admin.display(description=_("account"), ordering="email")
    def masked_email(self, user: GoogleUser) -> str:
        return mask_email(user.email)

    @admin.display(description=_("owner"))
    def masked_owner(self, user: GoogleUser) -> str:
        return mask_jid(user.owner_jid) or "–"

    @admin.display(description=_("all addresses"))
    def addresses(self, user: GoogleUser) -> SafeString | str:
        return lines(readable_addresses(user.owner_jid))

    @admin.display(description=_("LIDs over time"))
    def lid_spans(self, user: GoogleUser) -> SafeString | str:
        spans = queries.lid_spans(user.owner_jid)
        return lines(
            f"{span.lid}  {span.valid_from:%Y-%m-%d} – "
            + (f"{span.valid_to:%Y-%m-%d}" if span.valid_to else "…")
            for span in spans
        )

    @admin.display(description=_("open sessions"))
    def open_sessions(self, user: GoogleUser) -> SafeString | str:
        living = sessions.living_sessions(now=timezone.now()).filter(google_user=user)
        return lines(
            f"{one.session_token[:SESSION_REF_LENGTH]}…  {one.last_seen_at:%Y-%m-%d %H:%M}"
            for one in living
        )

    @admin.display(description=_("ban"))
    def present_ban(self, user: GoogleUser) -> SafeString:
        ban = queries.active_ban(
            google_sub=user.google_sub, email=user.email, owner_jid=user.owner_jid
        )
        if ban is not None:
            address = reverse("admin:whatsapp_auth_ban_change", args=[ban.pk])
            return format_html('<a href="{}">{}</a>', address, ban.reason or ban.pk)
        names = urlencode({"google_sub": user.google_sub, "owner_jid": user.owner_jid})
        address = f"{reverse('admin:whatsapp_auth_ban_add')}?{names}"
        return format_html('<a href="{}">{}</a>', address, _("Ban this person"))

    @admin.display(description=_("lately"))
    def recent_events(self, user: GoogleUser) -> SafeString | str:
        return lines(
            f"{event.occurred_at:%Y-%m-%d %H:%M}  {outcome_label(event.outcome)}"
            for event in queries.recent_events(user)
        )

    @admin.action(description=_("End all sessions"), permissions=["change"])
    def end_all_sessions(self, request: HttpRequest, chosen: QuerySet[GoogleUser]) -> None:
        """Sign the chosen people out everywhere."""
        ids = GoogleSession.objects.filter(google_user__in=chosen).values_list("pk", flat=True)
        _say_ended(self, request, sessions.end_sessions_by_id(ids, now=timezone.now()))


@admin.register(GoogleSession)
class GoogleSessionAdmin(SystemWrittenAdmin):
    """Web sessions by a short reference; the stored digest is not shown."""

    list_display = ["reference", "masked_owner", "last_seen_at", "expires_at", "revoked_at"]
    list_filter = [("revoked_at", admin.EmptyFieldListFilter)]
    search_fields = ["=google_user__google_sub", "=email", "=owner_phone"]
    search_help_text = _("Google id, e-mail or phone, in full")
    ordering = ["-created_at", "session_token"]
    fields = ["reference", "owner_jid", "email", "created_at", "last_seen_at", "expires_at"]
    actions = ["end"]

    @admin.display(description=_("session"))
    def reference(self, session: GoogleSession) -> str:
        return f"{session.session_token[:SESSION_REF_LENGTH]}…"

    @admin.display(description=_("owner"))
    def masked_owner(self, session: GoogleSession) -> str:
        return mask_jid(session.owner_jid) or "–"

    @admin.action(description=_("End the selected sessions"), permissions=["change"])
    def end(self, request: HttpRequest, chosen: QuerySet[GoogleSession]) -> None:
        """Sign these browsers out."""
        ids = chosen.values_list("pk", flat=True)
        _say_ended(self, request, sessions.end_sessions_by_id(ids, now=timezone.now()))


@admin.register(Ban)
class BanAdmin(ModelAdmin):
    """Who may not sign in, since when and why; bans are added and lifted, never edited."""

    list_display = ["masked_names", "reason", "created_at", "created_by_email", "revoked_at"]
    list_filter = [("revoked_at", admin.EmptyFieldListFilter)]
    search_fields = ["=google_sub", "=email", "=owner_jid"]
    search_help_text = _("Google id, e-mail or address, in full")
    ordering = ["-created_at", "id"]
    fields = ["google_sub", "email", "owner_jid", "reason"]
    actions = ["lift"]

    def get_readonly_fields(self, request: HttpRequest, obj: Ban | None = None) -> list[str]:
        return list(self.fields) if obj else []

    def has_delete_permission(self, request: HttpRequest, obj: Ban | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Ban, form: ModelForm, change: bool) -> None:
        """Ban through the service, which also ends the sessions."""
        if change:
            return
        report = bans.ban_person(
            google_sub=obj.google_sub or "",
            email=obj.email or "",
            owner=obj.owner_jid or "",
            reason=obj.reason or "",
            actor=request.user.get_username(),
            now=timezone.now(),
        )
        obj.pk = report.ban.pk
        _say_ended(self, request, report.ended_session_count)

    @admin.display(description=_("who"))
    def masked_names(self, ban: Ban) -> str:
        names = [ban.google_sub, ban.email and mask_email(ban.email), mask_jid(ban.owner_jid)]
        return ", ".join(name for name in names if name)

    @admin.action(description=_("Lift the selected bans"), permissions=["change"])
    def lift(self, request: HttpRequest, chosen: QuerySet[Ban]) -> None:
        """Let these people in again."""
        count = bans.revoke_bans(list(chosen.values_list("pk", flat=True)), now=timezone.now())
        text = ngettext("%(count)d ban lifted.", "%(count)d bans lifted.", count)
        self.message_user(request, text % {"count": count})


def _say_ended(page: ModelAdmin, request: HttpRequest, count: int) -> None:
    text = ngettext("%(count)d session ended.", "%(count)d sessions ended.", count)
    page.message_user(request, text % {"count": count})
