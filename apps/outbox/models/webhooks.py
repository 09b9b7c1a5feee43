"""Who is told of events over HTTP, and what came of it."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.common import fields
from apps.outbox.choices import Outcome


class WebhookSubscription(models.Model):
    """An address that wants events of some types; secrets sign, the older one until it ends."""

    name = models.CharField(_("name"), max_length=100, unique=True)
    url = models.URLField(_("URL"), max_length=500)
    event_types = models.JSONField(_("event types"), default=list)
    is_ordered = models.BooleanField(
        _("ordered"),
        default=False,
        help_text=_("Events of one aggregate wait for those before them."),
    )
    is_active = models.BooleanField(_("active"), default=True)
    disabled_reason = models.CharField(_("disabled because"), max_length=255, blank=True)
    secret = models.CharField(_("secret"), max_length=100, editable=False)
    former_secret = models.CharField(max_length=100, blank=True, editable=False)
    former_secret_until = models.DateTimeField(null=True, editable=False)
    failing_since = models.DateTimeField(_("failing since"), null=True, editable=False)
    created_by = models.CharField(_("created by"), max_length=150, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        db_table = "outbox_webhook_subscription"
        verbose_name = _("webhook subscription")
        verbose_name_plural = _("webhook subscriptions")

    def __str__(self) -> str:
        return self.name


class WebhookAttempt(models.Model):
    """One HTTP request to a subscriber and its answer."""

    subscription = models.ForeignKey(
        WebhookSubscription, models.CASCADE, related_name="attempts", verbose_name=_("subscription")
    )
    event_id = fields.BigUnsignedField(_("event"), db_index=True)
    event_type = models.CharField(_("event type"), max_length=96)
    attempt = models.PositiveSmallIntegerField(_("attempt"))
    outcome = models.CharField(_("outcome"), max_length=16, choices=Outcome)
    status_code = models.PositiveSmallIntegerField(_("status"), null=True)
    duration_ms = models.PositiveIntegerField(_("duration (ms)"))
    response = models.CharField(_("response"), max_length=500, blank=True)
    error = models.CharField(_("error"), max_length=255, blank=True)
    created_at = models.DateTimeField(_("when"), db_index=True)

    class Meta:
        db_table = "outbox_webhook_attempt"
        verbose_name = _("webhook attempt")
        verbose_name_plural = _("webhook attempts")
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.event_type} {self.event_id}: {self.outcome}"
