"""What apps use: metrics, events, counters, reservations, and the limits of plans."""

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.common.fields import ExactCharField
from apps.delivery.choices import AlertKind, OnLimit, OverageMode, ReservationStatus
from apps.delivery.models.apps import App, Plan
from apps.delivery.usage.charges import Overage
from apps.delivery.usage.charges import OverageMode as PriceMode
from apps.delivery.usage.events import MAX_ID_LENGTH, MAX_SUBJECT_LENGTH
from apps.delivery.usage.terms import OnLimit as LimitRule
from apps.delivery.usage.terms import Terms

MAX_METRIC_CODE_LENGTH = 63


class AppAccount(models.Model):
    """The user on whose behalf an app's own API tokens act; they reach only this app.

    The tie is to the user, not to a token, so that a rotated token is tied like the former.
    """

    app = models.ForeignKey(App, models.CASCADE, related_name="accounts", verbose_name=_("app"))
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="delivery_account",
        verbose_name=_("user"),
    )

    class Meta:
        db_table = "delivery_app_account"
        verbose_name = _("app account")
        verbose_name_plural = _("app accounts")

    def __str__(self) -> str:
        return str(self.pk)


class PlanLimit(models.Model):
    """What a plan includes of one metric, and what happens beyond."""

    plan = models.ForeignKey(Plan, models.CASCADE, related_name="limits", verbose_name=_("plan"))
    metric_code = ExactCharField(_("metric"), max_length=MAX_METRIC_CODE_LENGTH)
    included = models.PositiveBigIntegerField(_("included"))
    on_limit = models.CharField(
        _("beyond it"), max_length=16, choices=OnLimit, default=OnLimit.BLOCK
    )
    overage_mode = models.CharField(
        _("price is for"), max_length=16, choices=OverageMode, blank=True
    )
    price_minor = models.PositiveBigIntegerField(
        _("price in cents"), null=True, blank=True, validators=[MinValueValidator(1)]
    )
    block_size = models.PositiveBigIntegerField(
        _("units in a block"), null=True, blank=True, validators=[MinValueValidator(1)]
    )
    soft_limit = models.PositiveBigIntegerField(
        _("soft limit"), null=True, blank=True, help_text=_("Reaching it gives an alert.")
    )
    hard_limit = models.PositiveBigIntegerField(
        _("hard limit"),
        null=True,
        blank=True,
        help_text=_("Usage never crosses it; empty: what is included, where the plan blocks."),
    )
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        db_table = "delivery_plan_limit"
        verbose_name = _("plan limit")
        verbose_name_plural = _("plan limits")
        ordering = ["metric_code"]
        constraints = [
            models.UniqueConstraint(fields=["plan", "metric_code"], name="uq_delivery_plan_limit")
        ]

    def __str__(self) -> str:
        return self.metric_code

    @property
    def terms(self) -> Terms:
        """The row as the rules see it."""
        return Terms(
            included=self.included,
            on_limit=LimitRule(self.on_limit),
            overage_mode=PriceMode(self.overage_mode) if self.overage_mode else None,
            price_minor=self.price_minor,
            block_size=self.block_size,
            soft_limit=self.soft_limit,
            hard_limit=self.hard_limit,
        )

    @property
    def overage(self) -> Overage | None:
        """The price of more."""
        return self.terms.overage


class UsageMetric(models.Model):
    """Something that an app counts, as its manifest declares it."""

    app = models.ForeignKey(App, models.CASCADE, related_name="metrics", verbose_name=_("app"))
    code = ExactCharField(_("code"), max_length=MAX_METRIC_CODE_LENGTH)
    name = models.CharField(_("name"), max_length=80)
    unit = models.CharField(_("unit"), max_length=40, blank=True)
    position = models.PositiveSmallIntegerField(default=0)
    declaration = models.JSONField(
        _("declaration"), default=dict, help_text=_("The metric as the manifest has it.")
    )
    is_declared = models.BooleanField(
        _("declared"), default=True, help_text=_("Off: the newest manifest left it out.")
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        db_table = "delivery_usage_metric"
        verbose_name = _("usage metric")
        verbose_name_plural = _("usage metrics")
        ordering = ["app_id", "position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["app", "code"], name="uq_delivery_usage_metric")
        ]

    def __str__(self) -> str:
        return self.code


class UsageEvent(models.Model):
    """Something that was used, told once.

    `period` and `day` are those of the app's clock when the event came in, and stay: a changed
    time zone moves no usage from one invoice to another.
    """

    metric = models.ForeignKey(
        UsageMetric,
        models.CASCADE,
        db_index=False,
        related_name="events",
        verbose_name=_("usage metric"),
    )
    event_id = ExactCharField(_("event id"), max_length=MAX_ID_LENGTH)
    digest = models.CharField(max_length=32)
    quantity = models.PositiveBigIntegerField(_("quantity"))
    subject = ExactCharField(_("used by"), max_length=MAX_SUBJECT_LENGTH, blank=True)
    period = models.DateField(_("period"))
    day = models.DateField(_("day"))
    occurred_at = models.DateTimeField(_("happened"))
    received_at = models.DateTimeField(_("received"))

    class Meta:
        db_table = "delivery_usage_event"
        verbose_name = _("usage event")
        verbose_name_plural = _("usage events")
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["metric", "event_id"], name="uq_delivery_usage_event")
        ]
        # Sums of a period, its days and its users are read from the index alone.
        indexes = [
            models.Index(
                fields=["metric", "period", "day", "subject", "quantity"],
                name="ix_delivery_usage_event_sums",
            )
        ]

    def __str__(self) -> str:
        return self.event_id


class UsageTotal(models.Model):
    """The counter of a metric in a period: used for good, and held by reservations."""

    metric = models.ForeignKey(
        UsageMetric, models.CASCADE, related_name="totals", verbose_name=_("usage metric")
    )
    period = models.DateField(_("period"), help_text=_("Its first day, on the app's clock."))
    used = models.PositiveBigIntegerField(_("used"), default=0)
    reserved = models.PositiveBigIntegerField(_("reserved"), default=0)
    event_count = models.PositiveBigIntegerField(_("events"), default=0)
    checked_at = models.DateTimeField(_("checked"), null=True, blank=True)
    final_terms = models.JSONField(
        _("terms at the end"),
        null=True,
        blank=True,
        help_text=_("What the plan said when the period closed; later changes leave it alone."),
    )
    pruned_at = models.DateTimeField(
        _("events deleted"),
        null=True,
        blank=True,
        help_text=_("From then on the counter stands alone and is not compared any more."),
    )

    class Meta:
        db_table = "delivery_usage_total"
        verbose_name = _("usage total")
        verbose_name_plural = _("usage totals")
        ordering = ["-period", "metric_id"]
        constraints = [
            models.UniqueConstraint(fields=["metric", "period"], name="uq_delivery_usage_total")
        ]
        indexes = [models.Index(fields=["period", "id"], name="ix_delivery_usage_total_period")]

    def __str__(self) -> str:
        return str(self.period)


class UsageReservation(models.Model):
    """Units held before they are used; no burst of reservations crosses the hard limit."""

    total = models.ForeignKey(
        UsageTotal, models.CASCADE, related_name="reservations", verbose_name=_("usage total")
    )
    metric = models.ForeignKey(UsageMetric, models.CASCADE, db_index=False, related_name="+")
    reservation_id = ExactCharField(_("reservation"), max_length=MAX_ID_LENGTH)
    quantity = models.PositiveBigIntegerField(_("quantity"))
    subject = ExactCharField(_("used by"), max_length=MAX_SUBJECT_LENGTH, blank=True)
    status = models.CharField(
        _("state"),
        max_length=16,
        choices=ReservationStatus,
        default=ReservationStatus.HELD,
    )
    expires_at = models.DateTimeField(_("expires"))
    created_at = models.DateTimeField(_("created"))

    class Meta:
        db_table = "delivery_usage_reservation"
        verbose_name = _("usage reservation")
        verbose_name_plural = _("usage reservations")
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["metric", "reservation_id"], name="uq_delivery_usage_reservation"
            )
        ]
        indexes = [
            models.Index(fields=["status", "expires_at"], name="ix_delivery_reservation_due")
        ]

    def __str__(self) -> str:
        return self.reservation_id


class LimitAlert(models.Model):
    """A line that usage reached: once per period, and anew where the plan moves the line."""

    metric = models.ForeignKey(
        UsageMetric, models.CASCADE, related_name="alerts", verbose_name=_("usage metric")
    )
    period = models.DateField(_("period"))
    kind = models.CharField(_("kind"), max_length=16, choices=AlertKind)
    percent = models.PositiveSmallIntegerField(_("percent"), default=0)
    threshold = models.PositiveBigIntegerField(
        _("of"), help_text=_("The included amount or soft limit at that time.")
    )
    used = models.PositiveBigIntegerField(_("used"))
    created_at = models.DateTimeField(_("reached"))

    class Meta:
        db_table = "delivery_limit_alert"
        verbose_name = _("limit alert")
        verbose_name_plural = _("limit alerts")
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["metric", "period", "kind", "percent", "threshold"],
                name="uq_delivery_limit_alert",
            )
        ]

    def __str__(self) -> str:
        return f"{self.percent} %"
