"""Releases: made here, deployed, compared."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin

from apps.common.forms import CheckedForm
from apps.delivery.models import Release
from apps.delivery.rollout_queries import release_differences
from apps.delivery.services.releases import check_digest, create_release

_PAIR = 2


class ReleaseForm(CheckedForm):
    """A new release: an image of an app, by digest."""

    class Meta:
        model = Release
        fields = ["app", "image_digest", "note"]

    def ask_rules(self) -> None:
        check_digest(self.instance.image_digest)


@admin.register(Release)
class ReleaseAdmin(ModelAdmin):
    """What an app was, by number; a release is made once and never changed."""

    form = ReleaseForm
    list_display = ["release", "app_link", "short_digest", "note", "actor", "created_at"]
    list_filter = [("app", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["app"]
    search_fields = ["app__code", "image_digest", "note", "actor"]
    autocomplete_fields = ["app"]
    actions = ["compare"]
    show_full_result_count = False

    @admin.display(description=_("release"), ordering="number")
    def release(self, release: Release) -> str:
        """The number, as people say it."""
        return str(release)

    @admin.display(description=_("app"), ordering="app__code")
    def app_link(self, release: Release) -> SafeString:
        """The app."""
        address = reverse("admin:delivery_app_change", args=[release.app_id])
        return format_html('<a href="{}">{}</a>', address, release.app.code)

    @admin.display(description=_("deploy to"))
    def places(self, release: Release) -> SafeString:
        """The environments of the app, each with the way to a plan."""
        rows = (
            (f"{reverse('admin:delivery_environment_deploy', args=[e.pk])}?release={release.pk}", e)
            for e in release.app.environments.all()
        )
        links = format_html_join(" ", '<a href="{}">{}</a>', rows)
        return links or format_html("{}", _now("The app has no environment yet."))

    @admin.action(description=_("Compare two releases"), permissions=["view"])
    def compare(self, request: HttpRequest, chosen: QuerySet[Release]) -> None:
        """Say what changed between the two."""
        pair = list(chosen.select_related("app").order_by("number")[: _PAIR + 1])
        if len(pair) != _PAIR or pair[0].app_id != pair[1].app_id:
            self.message_user(request, _("Choose two releases of one app."), messages.WARNING)
            return
        rows = [(d.path, d.before, d.after) for d in release_differences(*pair)]
        told = format_html_join("", "<li><code>{}</code>: {} → {}</li>", rows)
        title = _now("%(before)s → %(after)s") % {"before": pair[0], "after": pair[1]}
        nothing = _now("no difference")
        self.message_user(request, format_html("{} <ul>{}</ul>", title, told or nothing))

    def get_fields(self, request: HttpRequest, obj: Release | None = None) -> list[str]:
        if obj is None:
            return ["app", "image_digest", "note"]
        return [
            "app",
            "number",
            "places",
            "image_digest",
            "config",
            "manifest_version",
            "note",
            "actor",
            "created_at",
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: Release | None = None) -> list[str]:
        return [] if obj is None else self.get_fields(request, obj)

    def save_model(self, request: HttpRequest, obj: Release, form: ModelForm, change: bool) -> None:
        if change:
            return
        made = create_release(
            obj.app,
            obj.image_digest,
            actor=request.user.get_username(),
            now=timezone.now(),
            note=obj.note,
        )
        obj.pk, obj.number = made.pk, made.number

    def has_change_permission(self, request: HttpRequest, obj: Release | None = None) -> bool:
        """Nothing of a release changes."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Release | None = None) -> bool:
        """What was deployed stays on record."""
        return False
