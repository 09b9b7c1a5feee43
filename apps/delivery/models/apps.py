"""Plans, apps, and the environments that an app runs in."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.delivery.choices import PerformanceMode, PodSecurity, Profile
from apps.delivery.context import (
    DEFAULT_WRITABLE_PATHS,
    MAX_REPLICAS,
    MAX_USER_ID,
)
from apps.delivery.names import MAX_HOST_LENGTH, MAX_LABEL_LENGTH
from apps.delivery.usage.periods import FIRST_DAY, LAST_DAY


def default_writable_paths() -> list[str]:
    """The temporary folders of a new app."""
    return list(DEFAULT_WRITABLE_PATHS)


class Plan(models.Model):
    """What a customer contracted: each slot is one replica of the profile."""

    code = models.SlugField(_("code"), max_length=40, unique=True)
    name = models.CharField(_("name"), max_length=80)
    slots = models.PositiveSmallIntegerField(
        _("slots"),
        default=1,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_REPLICAS)],
        help_text=_("Replicas of each environment."),
    )
    resource_profile = models.CharField(
        _("resource profile"), max_length=16, choices=Profile, default=Profile.SMALL
    )
    capabilities = models.JSONField(
        _("capabilities"),
        default=dict,
        blank=True,
        help_text=_('By name, for example {"core.secrets": {"enabled": true}}.'),
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        db_table = "delivery_plan"
        verbose_name = _("plan")
        verbose_name_plural = _("plans")
        ordering = ["code"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(slots__range=(1, MAX_REPLICAS)), name="ck_delivery_plan_slots"
            )
        ]

    def __str__(self) -> str:
        return self.name


class App(models.Model):
    """A customer's program: one image repository, delivered to one or more environments."""

    code = models.CharField(
        _("code"),
        max_length=MAX_LABEL_LENGTH,
        unique=True,
        help_text=_("Names its objects in the cluster; it never changes."),
    )
    name = models.CharField(_("name"), max_length=120)
    plan = models.ForeignKey(Plan, models.PROTECT, related_name="apps", verbose_name=_("plan"))
    image_repository = models.CharField(
        _("image repository"), max_length=255, help_text=_("Without tag and digest.")
    )
    pod_security = models.CharField(
        _("Pod Security level"),
        max_length=16,
        choices=PodSecurity,
        default=PodSecurity.RESTRICTED,
    )
    run_as_user = models.PositiveIntegerField(
        _("user id"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_USER_ID)],
        help_text=_("Empty: 10001 in restricted apps, the image's own user in baseline ones."),
    )
    writable_paths = models.JSONField(
        _("writable folders"), default=default_writable_paths, blank=True
    )
    egress = models.JSONField(
        _("outgoing connections"),
        null=True,
        blank=True,
        help_text=_("Rules with name, ports, and cidrs or namespace; empty: HTTPS and MongoDB."),
    )
    liveness_path = models.CharField(
        _("liveness path"),
        max_length=200,
        blank=True,
        help_text=_("An HTTP check that needs no database; empty: the port is open."),
    )
    time_zone = models.CharField(
        _("time zone"),
        max_length=64,
        default="UTC",
        help_text=_("Billing periods begin at midnight there, for example America/Sao_Paulo."),
    )
    billing_day = models.PositiveSmallIntegerField(
        _("billing day"),
        default=FIRST_DAY,
        validators=[MinValueValidator(FIRST_DAY), MaxValueValidator(LAST_DAY)],
        help_text=_("Day of the month on which periods begin; shorter months take their last."),
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        db_table = "delivery_app"
        verbose_name = _("app")
        verbose_name_plural = _("apps")
        ordering = ["code"]

    def __str__(self) -> str:
        return self.code


class Environment(models.Model):
    """One running copy of an app, in a namespace of its own."""

    app = models.ForeignKey(App, models.PROTECT, related_name="environments", verbose_name=_("app"))
    name = models.CharField(_("name"), max_length=20, default="main")
    namespace = models.CharField(_("namespace"), max_length=MAX_LABEL_LENGTH, unique=True)
    hostname = models.CharField(_("host name"), max_length=MAX_HOST_LENGTH, unique=True)
    performance_mode = models.CharField(
        _("performance mode"),
        max_length=16,
        choices=PerformanceMode,
        default=PerformanceMode.MIN,
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        db_table = "delivery_environment"
        verbose_name = _("environment")
        verbose_name_plural = _("environments")
        ordering = ["namespace"]
        constraints = [
            models.UniqueConstraint(fields=["app", "name"], name="uq_delivery_environment_name")
        ]

    def __str__(self) -> str:
        return self.namespace
