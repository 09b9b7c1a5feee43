"""The mirrored outbox and its dead letters."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.common import fields
from apps.outbox import choices


class OutboxEvent(models.Model):
    """A domain event, written in the transaction that made it true."""

    id = fields.BigUnsignedAutoField(primary_key=True)
    event_type = fields.CharField(max_length=96)
    aggregate_type = fields.CharField(max_length=96)
    aggregate_id = fields.CharField(max_length=128)
    payload = models.JSONField(null=True, blank=True)
    status = fields.EnumField(
        max_length=10,
        choices=choices.LeaseStatus,
        default=choices.LeaseStatus.PENDING,
        db_default=choices.LeaseStatus.PENDING.value,
    )
    priority = fields.TinyUnsignedField(default=50, db_default=50)
    idempotency_key = fields.CharField(max_length=180, null=True, blank=True)
    available_at = fields.TimestampField(
        default=fields.now_seconds, db_default=fields.CurrentTimestamp()
    )
    attempts = fields.TinyUnsignedField(default=0, db_default=0)
    max_attempts = fields.TinyUnsignedField(default=10, db_default=10)
    worker_token = fields.FixedCharField(max_length=36, null=True, blank=True)
    last_error = fields.CharField(max_length=255, null=True, blank=True)
    locked_at = fields.TimestampField(null=True, blank=True)
    processed_at = fields.TimestampField(null=True, blank=True)
    created_at = fields.TimestampField(
        default=fields.now_seconds, db_default=fields.CurrentTimestamp()
    )
    updated_at = fields.TimestampField(
        default=fields.now_seconds, db_default=fields.CurrentTimestamp(), on_update=True
    )

    class Meta:
        db_table = "domain_event_outbox"
        verbose_name = _("outbox event")
        verbose_name_plural = _("outbox events")
        indexes = [
            fields.LongNameIndex(
                fields=["aggregate_type", "aggregate_id", "created_at"],
                name="idx_domain_event_outbox_aggregate",
            ),
            fields.LongNameIndex(
                fields=["event_type", "status", "available_at"],
                name="idx_domain_event_outbox_event_type",
            ),
            fields.LongNameIndex(
                fields=["status", "available_at", "priority"],
                name="idx_domain_event_outbox_status_sched",
            ),
            fields.LongNameIndex(
                fields=["worker_token"], name="idx_domain_event_outbox_worker_token"
            ),
            fields.LongNameIndex(
                fields=["status", "priority", "available_at", "id"],
                name="idx_domain_event_outbox_claim",
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["idempotency_key"], name="uq_domain_event_outbox_idempotency_key"
            ),
        ]

    def __str__(self) -> str:
        return self.event_type


class OutboxDeadLetter(models.Model):
    """The copy of an event that used up its attempts, until someone decides."""

    id = fields.BigUnsignedAutoField(primary_key=True)
    outbox_event_id = fields.BigUnsignedField(null=True, blank=True)
    event_type = fields.CharField(max_length=96)
    aggregate_type = fields.CharField(max_length=96)
    aggregate_id = fields.CharField(max_length=128)
    payload = models.JSONField(null=True, blank=True)
    attempts = fields.TinyUnsignedField(default=0, db_default=0)
    max_attempts = fields.TinyUnsignedField(default=0, db_default=0)
    last_error = fields.CharField(max_length=255, null=True, blank=True)
    failed_at = fields.TimestampField(
        default=fields.now_seconds, db_default=fields.CurrentTimestamp()
    )
    created_at = fields.TimestampField(
        default=fields.now_seconds, db_default=fields.CurrentTimestamp()
    )

    class Meta:
        db_table = "domain_event_outbox_dlq"
        verbose_name = _("dead letter")
        verbose_name_plural = _("dead letters")
        indexes = [
            fields.LongNameIndex(
                fields=["aggregate_type", "aggregate_id", "failed_at"],
                name="idx_domain_event_outbox_dlq_aggregate",
            ),
            fields.LongNameIndex(
                fields=["event_type", "failed_at"], name="idx_domain_event_outbox_dlq_event"
            ),
            fields.LongNameIndex(
                fields=["outbox_event_id"], name="idx_domain_event_outbox_dlq_outbox_event_id"
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["outbox_event_id"], name="uq_domain_event_outbox_dlq_outbox_event"
            ),
        ]

    def __str__(self) -> str:
        return self.event_type
