"""Who may call the API, and the moderators of the former panel."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.admin import ModelAdmin

from apps.common.scopes import Scope
from apps.whatsapp_auth.admin.system import SystemWrittenAdmin
from apps.whatsapp_auth.models import ApiToken, Moderator
from apps.whatsapp_auth.services import tokens
from apps.whatsapp_auth.services.logins import mask_email
from apps.whatsapp_auth.services.moderators import import_moderators

ROTATION_GRACE = timedelta(hours=24)


class ApiTokenForm(forms.ModelForm):
    """A new token's rights; the secret is made by the service."""

    scopes = forms.MultipleChoiceField(
        label=_("scopes"), choices=Scope.choices, widget=forms.CheckboxSelectMultiple
    )

    class Meta:
        model = ApiToken
        fields = ["name", "owner", "scopes", "is_client_side", "expires_at"]


@admin.register(ApiToken)
class ApiTokenAdmin(ModelAdmin):
    """Tokens by their first characters; a secret is shown once, when it is made."""

    list_display = ["name", "prefix", "owner", "expires_at", "revoked_at", "last_used_at"]
    list_filter = [("revoked_at", admin.EmptyFieldListFilter), "is_client_side"]
    list_select_related = ["owner"]
    search_fields = ["name", "prefix", "owner__username"]
    autocomplete_fields = ["owner"]
    actions = ["rotate", "revoke"]

    def get_form(
        self, request: HttpRequest, obj: ApiToken | None = None, change: bool = False, **kwargs: Any
    ) -> type[forms.ModelForm]:
        """The form of a new token; one that exists is only shown."""
        if obj is None:
            kwargs["form"] = ApiTokenForm
        form: type[forms.ModelForm] = super().get_form(request, obj, change, **kwargs)
        return form

    def get_fields(self, request: HttpRequest, obj: ApiToken | None = None) -> list[str]:
        fields = list(ApiTokenForm.Meta.fields)
        return fields if obj is None else [*fields, "prefix", "revoked_at", "last_used_at"]

    def get_readonly_fields(self, request: HttpRequest, obj: ApiToken | None = None) -> list[str]:
        return self.get_fields(request, obj) if obj else []

    def has_delete_permission(self, request: HttpRequest, obj: ApiToken | None = None) -> bool:
        return False

    def save_model(
        self, request: HttpRequest, obj: ApiToken, form: forms.ModelForm, change: bool
    ) -> None:
        """Issue the token and show its secret."""
        if change:
            return
        token, secret = tokens.issue_token(
            obj.name,
            owner=obj.owner,
            scopes=obj.scopes,
            expires_at=obj.expires_at,
            is_client_side=obj.is_client_side,
        )
        obj.pk, obj.prefix = token.pk, token.prefix
        self._show(request, secret)

    @admin.action(description=_("Rotate: successor now, end in a day"), permissions=["change"])
    def rotate(self, request: HttpRequest, chosen: QuerySet[ApiToken]) -> None:
        """Issue a successor for each and show it; the former ones end in a day."""
        for token in chosen.filter(revoked_at=None):
            _new, secret = tokens.rotate_token(token.pk, grace=ROTATION_GRACE, now=timezone.now())
            self._show(request, secret)

    @admin.action(description=_("Revoke the selected tokens"), permissions=["change"])
    def revoke(self, request: HttpRequest, chosen: QuerySet[ApiToken]) -> None:
        """End them at once."""
        count = tokens.revoke_tokens(list(chosen.values_list("pk", flat=True)), now=timezone.now())
        text = ngettext("%(count)d token revoked.", "%(count)d tokens revoked.", count)
        self.message_user(request, text % {"count": count})

    def _show(self, request: HttpRequest, secret: str) -> None:
        text = _("Copy this secret now, it is never shown again: %(secret)s")
        self.message_user(request, text % {"secret": secret}, messages.WARNING)


@admin.register(Moderator)
class ModeratorAdmin(SystemWrittenAdmin):
    """Moderators of the former panel, to be read and to become members of staff."""

    list_display = ["masked_email", "name", "last_login_at", "revoked_at"]
    list_filter = [("revoked_at", admin.EmptyFieldListFilter)]
    search_fields = ["=google_sub", "=email"]
    ordering = ["-updated_at", "google_sub"]
    fields = ["google_sub", "email", "name", "owner_jid", "last_login_at", "revoked_at"]
    actions = ["make_staff"]

    @admin.display(description=_("e-mail"), ordering="email")
    def masked_email(self, moderator: Moderator) -> str:
        return mask_email(moderator.email)

    def has_make_staff_permission(self, request: HttpRequest) -> bool:
        """Deciding who belongs to the staff is for those who may add users."""
        return request.user.has_perm("auth.add_user")

    @admin.action(description=_("Make them members of staff"), permissions=["make_staff"])
    def make_staff(self, request: HttpRequest, chosen: QuerySet[Moderator]) -> None:
        """Create users with the operator's role; an owner gives each a password."""
        report = import_moderators(list(chosen.values_list("pk", flat=True)))
        text = ngettext("%(count)d user created.", "%(count)d users created.", report.created_count)
        self.message_user(request, text % {"count": report.created_count})
