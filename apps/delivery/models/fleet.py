"""What the cluster last said about each environment."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.delivery.choices import HealthStatus
from apps.delivery.models.apps import Environment


class EnvironmentStatus(models.Model):
    """The last look at an environment; pages read this, so they work while the cluster is away."""

    environment = models.OneToOneField(
        Environment,
        models.CASCADE,
        related_name="status",
        primary_key=True,
        verbose_name=_("environment"),
    )
    health = models.CharField(
        _("health"), max_length=16, choices=HealthStatus, default=HealthStatus.UNKNOWN
    )
    reason = models.CharField(_("reason"), max_length=500, blank=True)
    replicas_available = models.PositiveSmallIntegerField(_("replicas available"), default=0)
    replicas_wanted = models.PositiveSmallIntegerField(_("replicas wanted"), default=0)
    has_drifted = models.BooleanField(_("drifted"), default=False)
    drift = models.JSONField(_("drift"), default=list, blank=True)
    checked_at = models.DateTimeField(_("last seen"))

    class Meta:
        db_table = "delivery_environment_status"
        verbose_name = _("environment status")
        verbose_name_plural = _("fleet")
        indexes = [
            models.Index(fields=["health"], name="idx_delivery_status_health"),
        ]

    def __str__(self) -> str:
        return self.health


class ClusterStatus(models.Model):
    """Whether the cluster answered at the last look; one row."""

    is_reachable = models.BooleanField(_("reachable"), default=False)
    version = models.CharField(_("version"), max_length=40, blank=True)
    message = models.CharField(_("message"), max_length=500, blank=True)
    checked_at = models.DateTimeField(_("last asked"))
    answered_at = models.DateTimeField(_("last answered"), null=True, blank=True)

    class Meta:
        db_table = "delivery_cluster_status"
        verbose_name = _("cluster status")
        verbose_name_plural = _("cluster status")

    def __str__(self) -> str:
        return self.version or self.message
