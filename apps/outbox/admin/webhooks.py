"""Webhooks in the admin: subscribe, try out, rotate the secret, and read what was answered."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.forms import ModelForm, URLField
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.admin import ModelAdmin

from apps.common.admin import ReadOnlyAdmin
from apps.outbox.choices import Outcome
from apps.outbox.models import WebhookAttempt, WebhookSubscription
from apps.outbox.services import webhook_delivery, webhooks

EDITED = ["name", "url", "event_types", "is_ordered", "is_active"]


class SubscriptionForm(ModelForm):
    """An address without a scheme means https."""

    url = URLField(label=_("URL"), max_length=500, assume_scheme="https")

    class Meta:
        model = WebhookSubscription
        fields = EDITED


@admin.register(WebhookSubscription)
class WebhookSubscriptionAdmin(ModelAdmin):
    """Who is told of events; a secret is shown once, when it is made."""

    form = SubscriptionForm
    list_display = ["name", "url", "is_active", "failing_since", "is_ordered", "disabled_reason"]
    list_filter = ["is_active", "is_ordered"]
    search_fields = ["name", "url"]
    ordering = ["name"]
    fields = [*EDITED, "disabled_reason", "failing_since", "created_by", "created_at"]
    readonly_fields = ["disabled_reason", "failing_since", "created_by", "created_at"]
    actions = ["send_test", "rotate"]

    def save_model(
        self, request: HttpRequest, obj: WebhookSubscription, form: ModelForm, change: bool
    ) -> None:
        """Write through the service, and show a fresh secret."""
        values = {name: form.cleaned_data[name] for name in EDITED}
        if change:
            webhooks.change_subscription(obj.pk, **values)
            return
        values.pop("is_active")
        made = webhooks.subscribe(**values, actor=request.user.get_username())
        obj.pk = made.pk
        self._show_secret(request, made)

    def delete_model(self, request: HttpRequest, obj: WebhookSubscription) -> None:
        """End the subscription; workers know within seconds."""
        webhooks.unsubscribe(obj.pk)

    @admin.action(description=_("Send a test event"), permissions=["change"])
    def send_test(self, request: HttpRequest, chosen: QuerySet[WebhookSubscription]) -> None:
        """Send a made-up event to each at once and say what was answered."""
        for subscription in chosen:
            attempt = webhook_delivery.send_test(subscription.pk, now=timezone.now())
            is_delivered = attempt.outcome == Outcome.DELIVERED
            text = _("%(name)s: %(outcome)s in %(ms)d ms (%(answer)s)") % {
                "name": subscription.name,
                "outcome": attempt.get_outcome_display(),
                "ms": attempt.duration_ms,
                "answer": attempt.status_code or attempt.error,
            }
            self.message_user(request, text, messages.SUCCESS if is_delivered else messages.ERROR)

    @admin.action(description=_("Give a fresh secret"), permissions=["change"])
    def rotate(self, request: HttpRequest, chosen: QuerySet[WebhookSubscription]) -> None:
        """The former secret signs too for a day."""
        for subscription in chosen:
            made = webhooks.rotate_secret(subscription.pk, now=timezone.now())
            self._show_secret(request, made)

    def _show_secret(self, request: HttpRequest, made: WebhookSubscription) -> None:
        text = _("%(name)s: the secret is shown only now: %(secret)s") % {
            "name": made.name,
            "secret": made.secret,
        }
        self.message_user(request, text, messages.WARNING)


@admin.register(WebhookAttempt)
class WebhookAttemptAdmin(ReadOnlyAdmin):
    """Requests to subscribers and their answers."""

    list_display = [
        "event_type",
        "event_id",
        "subscription",
        "outcome",
        "status_code",
        "attempt",
        "duration_ms",
        "created_at",
    ]
    list_filter = ["outcome", "subscription"]
    list_select_related = ["subscription"]
    search_fields = ["=event_id"]
    actions = ["replay"]

    def has_replay_permission(self, request: HttpRequest) -> bool:
        """Sending again is a change of the subscription's work."""
        return request.user.has_perm("outbox.change_webhooksubscription")

    @admin.action(description=_("Send the selected events again"), permissions=["replay"])
    def replay(self, request: HttpRequest, chosen: QuerySet[WebhookAttempt]) -> None:
        """Send each event once more to its subscriber."""
        wanted: dict[int, set[int]] = {}
        for subscription_id, event_id in chosen.values_list("subscription_id", "event_id"):
            wanted.setdefault(subscription_id, set()).add(event_id)
        count = sum(len(webhooks.replay(pk, sorted(ids))) for pk, ids in wanted.items())
        text = ngettext("%(count)d event sent again.", "%(count)d events sent again.", count)
        self.message_user(request, text % {"count": count})
