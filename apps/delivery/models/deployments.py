"""Plans and deployments: what was to change, what happened, and why."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.delivery.choices import DeploymentKind, DeploymentPhase, StepStatus
from apps.delivery.models.apps import Environment
from apps.delivery.models.releases import Release


class DeploymentPlan(models.Model):
    """What a release would change in an environment, as it was shown to somebody.

    It can be confirmed once, until it expires, and only while the cluster and the app are still as
    the fingerprint says.
    """

    environment = models.ForeignKey(
        Environment, models.CASCADE, related_name="plans", verbose_name=_("environment")
    )
    release = models.ForeignKey(
        Release, models.CASCADE, related_name="plans", verbose_name=_("release")
    )
    changes = models.JSONField(_("changes"), default=list)
    findings = models.JSONField(_("findings"), default=list)
    fingerprint = models.CharField(_("fingerprint"), max_length=64)
    actor = models.CharField(_("made by"), max_length=120)
    created_at = models.DateTimeField(_("made"))
    expires_at = models.DateTimeField(_("expires"))

    class Meta:
        db_table = "delivery_deployment_plan"
        verbose_name = _("deployment plan")
        verbose_name_plural = _("deployment plans")
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"plan {self.pk}"


class Deployment(models.Model):
    """One release on its way into one environment, and back if it does not get well.

    `active_environment` is set while the deployment holds its environment's only place; the
    database keeps it unique. A worker writes only while `lease_token` is its own.
    """

    environment = models.ForeignKey(
        Environment, models.PROTECT, related_name="deployments", verbose_name=_("environment")
    )
    active_environment = models.OneToOneField(
        Environment, models.PROTECT, related_name="active_deployment", null=True, editable=False
    )
    release = models.ForeignKey(
        Release, models.PROTECT, related_name="deployments", verbose_name=_("release")
    )
    fallback_release = models.ForeignKey(
        Release,
        models.PROTECT,
        related_name="+",
        null=True,
        blank=True,
        verbose_name=_("rolls back to"),
    )
    plan = models.OneToOneField(
        DeploymentPlan,
        models.SET_NULL,
        related_name="deployment",
        null=True,
        blank=True,
        verbose_name=_("plan"),
    )
    kind = models.CharField(
        _("kind"), max_length=16, choices=DeploymentKind, default=DeploymentKind.DEPLOY
    )
    phase = models.CharField(
        _("phase"), max_length=16, choices=DeploymentPhase, default=DeploymentPhase.QUEUED
    )
    percent = models.PositiveSmallIntegerField(_("progress in percent"), default=0)
    reasons = models.JSONField(_("reasons"), default=list, blank=True)
    error_code = models.CharField(_("error"), max_length=40, blank=True)
    error_message = models.CharField(_("error message"), max_length=1000, blank=True)
    is_forced = models.BooleanField(
        _("takes fields over"),
        default=False,
        help_text=_("Fields that other managers own are overwritten."),
    )
    image_ref = models.CharField(_("image"), max_length=400, blank=True)
    infra_version = models.CharField(_("infrastructure version"), max_length=32, blank=True)
    actor = models.CharField(_("started by"), max_length=120)
    note = models.CharField(_("note"), max_length=500, blank=True)
    created_at = models.DateTimeField(_("requested"))
    phase_since = models.DateTimeField(_("in this phase since"))
    deadline_at = models.DateTimeField(_("must be healthy by"), null=True, blank=True)
    finished_at = models.DateTimeField(_("finished"), null=True, blank=True)
    lease_token = models.CharField(max_length=36, blank=True, editable=False)
    lease_until = models.DateTimeField(null=True, editable=False)

    class Meta:
        db_table = "delivery_deployment"
        verbose_name = _("deployment")
        verbose_name_plural = _("deployments")
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["phase", "lease_until"], name="idx_delivery_deploy_claim"),
            models.Index(fields=["environment", "id"], name="idx_delivery_deploy_order"),
        ]

    def __str__(self) -> str:
        return f"deployment {self.pk}"


class DeploymentStep(models.Model):
    """One thing that a deployment did or saw: the timeline, and where a new worker goes on."""

    deployment = models.ForeignKey(
        Deployment, models.CASCADE, related_name="steps", verbose_name=_("deployment")
    )
    name = models.CharField(_("step"), max_length=160)
    status = models.CharField(_("result"), max_length=16, choices=StepStatus)
    message = models.CharField(_("message"), max_length=1000, blank=True)
    at = models.DateTimeField(_("time"))

    class Meta:
        db_table = "delivery_deployment_step"
        verbose_name = _("deployment step")
        verbose_name_plural = _("deployment steps")
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["deployment", "name"], name="uq_delivery_deployment_step"
            )
        ]

    def __str__(self) -> str:
        return self.name
