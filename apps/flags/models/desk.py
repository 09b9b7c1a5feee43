"""What the rollout desk keeps beside the mirrored flag table, by the flag's name.

By name and not by key: what is known of a flag outlives its deletion, and returns with it.
"""

from django.core.validators import MaxValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.flags.choices import ChangeAction, StepStatus
from apps.flags.evaluation import FULL_PERCENT, MAX_NAME_LENGTH, UNIT_COUNT


class FlagRule(models.Model):
    """How a flag chooses its subjects, and who looks after it."""

    flag_name = models.CharField(_("flag"), max_length=MAX_NAME_LENGTH, primary_key=True)
    is_killed = models.BooleanField(
        _("killed"), default=False, help_text=_("Off for everybody, whatever else is said.")
    )
    salt = models.CharField(
        _("salt"),
        max_length=64,
        blank=True,
        help_text=_("Flags with the same salt share their cohort; empty: the flag's name."),
    )
    rollout_units = models.PositiveIntegerField(
        _("share in thousandths of a percent"),
        null=True,
        blank=True,
        validators=[MaxValueValidator(UNIT_COUNT)],
        help_text=_("0 to 100,000; replaces the whole percentage."),
    )
    allowed = models.JSONField(_("always on for"), default=list, blank=True)
    denied = models.JSONField(_("always off for"), default=list, blank=True)
    prerequisites = models.JSONField(_("only where these are on"), default=list, blank=True)
    is_client_visible = models.BooleanField(_("visible to clients"), default=False)
    owner = models.CharField(_("owner"), max_length=150, blank=True)
    expires_on = models.DateField(_("expires"), null=True, blank=True)
    tags = models.JSONField(_("tags"), default=list, blank=True)

    class Meta:
        db_table = "flags_targeting_rule"
        verbose_name = _("targeting rule")
        verbose_name_plural = _("targeting rules")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(rollout_units=None) | models.Q(rollout_units__lte=UNIT_COUNT),
                name="ck_flags_rule_units",
            )
        ]

    def __str__(self) -> str:
        return self.flag_name


class FlagChange(models.Model):
    """One change of a flag: who, when, before, after, why."""

    flag_name = models.CharField(_("flag"), max_length=MAX_NAME_LENGTH)
    action = models.CharField(_("action"), max_length=16, choices=ChangeAction)
    actor = models.CharField(_("by"), max_length=150)
    reason = models.CharField(_("reason"), max_length=255, blank=True)
    request_id = models.CharField(_("request"), max_length=64, blank=True)
    before = models.JSONField(_("before"), null=True, blank=True)
    after = models.JSONField(_("after"), null=True, blank=True)
    created_at = models.DateTimeField(_("when"), auto_now_add=True)

    class Meta:
        db_table = "flags_change"
        verbose_name = _("flag change")
        verbose_name_plural = _("flag changes")
        ordering = ["-pk"]
        indexes = [models.Index(fields=["flag_name", "-id"], name="idx_flags_change_flag")]

    def __str__(self) -> str:
        return f"{self.flag_name}: {self.action}"


class RolloutStep(models.Model):
    """A percentage that a flag takes at a given time."""

    flag_name = models.CharField(_("flag"), max_length=MAX_NAME_LENGTH)
    rollout_percent = models.PositiveSmallIntegerField(_("rollout percentage"))
    due_at = models.DateTimeField(_("due"))
    status = models.CharField(
        _("state"), max_length=16, choices=StepStatus, default=StepStatus.PENDING
    )
    actor = models.CharField(_("planned by"), max_length=150)
    applied_at = models.DateTimeField(_("applied"), null=True, blank=True)

    class Meta:
        db_table = "flags_scheduled_change"
        verbose_name = _("rollout step")
        verbose_name_plural = _("rollout steps")
        ordering = ["due_at", "pk"]
        indexes = [models.Index(fields=["status", "due_at"], name="idx_flags_step_due")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(rollout_percent__lte=FULL_PERCENT), name="ck_flags_step_percent"
            )
        ]

    def __str__(self) -> str:
        return f"{self.flag_name}: {self.rollout_percent} %"


class FlagUsage(models.Model):
    """When a flag was last asked for, by samples of the processes that ask."""

    flag_name = models.CharField(_("flag"), max_length=MAX_NAME_LENGTH, primary_key=True)
    last_evaluated_on = models.DateField(_("last asked for"))

    class Meta:
        db_table = "flags_usage"
        verbose_name = _("flag usage")
        verbose_name_plural = _("flag usages")

    def __str__(self) -> str:
        return self.flag_name
