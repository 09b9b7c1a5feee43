"""Host names that customers bring themselves."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.delivery.choices import DomainStatus
from apps.delivery.models.apps import Environment
from apps.delivery.names import MAX_HOST_LENGTH


class CustomDomain(models.Model):
    """A host of one environment; it is routed once its DNS has been verified."""

    environment = models.ForeignKey(
        Environment, models.CASCADE, related_name="domains", verbose_name=_("environment")
    )
    host = models.CharField(_("host name"), max_length=MAX_HOST_LENGTH, unique=True)
    status = models.CharField(
        _("state"), max_length=16, choices=DomainStatus, default=DomainStatus.ADDED
    )
    reason = models.CharField(
        _("reason"), max_length=500, blank=True, help_text=_("Why it is not active.")
    )
    verified_at = models.DateTimeField(_("DNS verified"), null=True, blank=True)
    checked_at = models.DateTimeField(_("last checked"), null=True, blank=True)
    next_check_at = models.DateTimeField(_("next check"), null=True, blank=True)
    failure_count = models.PositiveIntegerField(_("failures in a row"), default=0)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        db_table = "delivery_custom_domain"
        verbose_name = _("custom domain")
        verbose_name_plural = _("custom domains")
        ordering = ["host"]
        indexes = [
            models.Index(fields=["next_check_at"], name="idx_delivery_domain_next_check"),
            models.Index(fields=["environment", "id"], name="idx_delivery_domain_order"),
        ]

    def __str__(self) -> str:
        return self.host
