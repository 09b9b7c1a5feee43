"""What the outbox remembers beside the mirrored tables."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.common import fields
from apps.outbox.choices import RedriveAction


class HandlerState(models.Model):
    """How far one handler has come with an event; only written when some of its handlers failed."""

    event_id = fields.BigUnsignedField(_("event"))
    handler = models.CharField(_("handler"), max_length=150)
    is_done = models.BooleanField(_("done"), default=False)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    last_error = models.CharField(_("last error"), max_length=255, blank=True)
    updated_at = models.DateTimeField(_("updated"), auto_now=True)

    class Meta:
        db_table = "outbox_handler_state"
        verbose_name = _("handler state")
        verbose_name_plural = _("handler states")
        constraints = [
            models.UniqueConstraint(fields=["event_id", "handler"], name="uq_outbox_handler_state")
        ]

    def __str__(self) -> str:
        return f"{self.handler} · {self.event_id}"


class FailedAttempt(models.Model):
    """One failed attempt of an event: what failed, how, and when it was to be tried again.

    Without a handler the worker itself was lost. Only failures are written down, so that events
    that just complete cost nothing.
    """

    event_id = fields.BigUnsignedField(_("event"), db_index=True)
    attempt = models.PositiveSmallIntegerField(_("attempt"))
    handler = models.CharField(_("handler"), max_length=150, blank=True)
    error = models.CharField(_("error"), max_length=255)
    retry_seconds = models.PositiveIntegerField(_("again after seconds"), null=True)
    failed_at = models.DateTimeField(_("failed"), auto_now_add=True, db_index=True)

    class Meta:
        db_table = "outbox_failed_attempt"
        verbose_name = _("failed attempt")
        verbose_name_plural = _("failed attempts")
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.event_id} · {self.attempt}"


class PausedType(models.Model):
    """An event type that workers leave alone until it is resumed."""

    event_type = models.CharField(_("event type"), max_length=96, primary_key=True)
    paused_by = models.CharField(_("paused by"), max_length=150)
    reason = models.CharField(_("reason"), max_length=255)
    paused_at = models.DateTimeField(_("paused"), auto_now_add=True)

    class Meta:
        db_table = "outbox_paused_type"
        verbose_name = _("paused type")
        verbose_name_plural = _("paused types")

    def __str__(self) -> str:
        return self.event_type


class HandlerTiming(models.Model):
    """How long one handler's calls took in one worker since its last note, as a histogram.

    `buckets` counts calls by the upper bounds in `histograms.BOUNDS`; the last count is of those
    beyond. A row without a handler counts the events that completed. Kept for a day; the
    dashboard reads the last half hour.
    """

    handler = models.CharField(_("handler"), max_length=150, blank=True)
    calls = models.PositiveIntegerField(_("calls"))
    buckets = models.JSONField(_("buckets"))
    noted_at = models.DateTimeField(_("noted"), auto_now_add=True, db_index=True)

    class Meta:
        db_table = "outbox_handler_timing"
        verbose_name = _("handler timing")
        verbose_name_plural = _("handler timings")

    def __str__(self) -> str:
        return f"{self.handler} · {self.calls}"


class DrainSlot(models.Model):
    """A place for one resident drain; its holder renews it, and a lost one is free soon."""

    name = models.CharField(max_length=64, primary_key=True)
    holder = models.CharField(max_length=36, blank=True)
    held_until = models.DateTimeField(null=True)

    class Meta:
        db_table = "outbox_drain_slot"
        verbose_name = _("drain slot")
        verbose_name_plural = _("drain slots")

    def __str__(self) -> str:
        return self.name


class RedriveLog(models.Model):
    """Who sent a dead letter back or discarded it, when and why."""

    event_id = fields.BigUnsignedField(_("event"), db_index=True)
    event_type = models.CharField(_("event type"), max_length=96)
    action = models.CharField(_("action"), max_length=16, choices=RedriveAction)
    actor = models.CharField(_("by"), max_length=150)
    reason = models.CharField(_("reason"), max_length=255)
    last_error = models.CharField(_("last error"), max_length=255, blank=True)
    payload_before = models.JSONField(_("payload before"), null=True, blank=True)
    created_at = models.DateTimeField(_("when"), auto_now_add=True)

    class Meta:
        db_table = "outbox_redrive_log"
        verbose_name = _("redrive log entry")
        verbose_name_plural = _("redrive log")
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.action} {self.event_type} {self.event_id}"
