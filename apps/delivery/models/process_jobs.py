"""What SQL knows of process jobs: who did what to them, and which apps recalculate themselves."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.delivery.choices import ProcessJobActionKind
from apps.delivery.models.apps import App

MAX_TIMEOUT_SECONDS = 3600


class ProcessJobAction(models.Model):
    """An operator's decision about one job; the jobs themselves are in MongoDB."""

    job_id = models.CharField(_("job"), max_length=24, db_index=True)
    model_name = models.CharField(_("model"), max_length=120)
    selectors = models.CharField(_("selectors"), max_length=255)
    action = models.CharField(_("action"), max_length=16, choices=ProcessJobActionKind)
    actor = models.CharField(_("by"), max_length=150)
    reason = models.CharField(_("reason"), max_length=255, blank=True)
    created_at = models.DateTimeField(_("at"), auto_now_add=True)

    class Meta:
        db_table = "delivery_process_job_action"
        verbose_name = _("process job action")
        verbose_name_plural = _("process jobs")
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.job_id} {self.action}"


class RemoteRunner(models.Model):
    """A model whose jobs are run by calling the app that declares it."""

    app = models.ForeignKey(
        App, models.CASCADE, related_name="remote_runners", verbose_name=_("app")
    )
    model_name = models.CharField(
        _("model"), max_length=120, unique=True, help_text=_("As its jobs name it.")
    )
    url = models.URLField(_("URL"), max_length=500)
    secret = models.CharField(max_length=100, editable=False)
    timeout_seconds = models.PositiveSmallIntegerField(
        _("time-out (s)"),
        default=60,
        validators=[MinValueValidator(1), MaxValueValidator(MAX_TIMEOUT_SECONDS)],
    )
    is_active = models.BooleanField(_("active"), default=True)
    created_by = models.CharField(_("created by"), max_length=150, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        db_table = "delivery_remote_runner"
        verbose_name = _("recalculation by an app")
        verbose_name_plural = _("recalculations by apps")
        ordering = ["model_name"]

    def __str__(self) -> str:
        return self.model_name
