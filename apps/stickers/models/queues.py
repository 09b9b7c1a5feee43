"""The leased queues of the sticker workers."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.common import fields
from apps.stickers import choices
from apps.stickers.models.assets import StickerAsset


class ReprocessTask(models.Model):
    """A leased request to classify a sticker again."""

    id = fields.BigUnsignedAutoField(primary_key=True)
    asset = models.ForeignKey(
        StickerAsset,
        models.CASCADE,
        db_constraint=False,
        db_index=False,
        related_name="reprocess_tasks",
    )
    reason = fields.EnumField(max_length=14, choices=choices.ReprocessReason)
    priority = fields.TinyUnsignedField(default=50, db_default=50)
    scheduled_at = fields.TimestampField(
        default=fields.now_seconds, db_default=fields.CurrentTimestamp()
    )
    status = fields.EnumField(
        max_length=10,
        choices=choices.LeaseStatus,
        default=choices.LeaseStatus.PENDING,
        db_default=choices.LeaseStatus.PENDING.value,
    )
    attempts = fields.TinyUnsignedField(default=0, db_default=0)
    max_attempts = fields.TinyUnsignedField(default=5, db_default=5)
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
        db_table = "sticker_asset_reprocess_queue"
        verbose_name = _("reprocess task")
        verbose_name_plural = _("reprocess tasks")
        indexes = [
            fields.LongNameIndex(
                fields=["asset", "reason"], name="idx_sticker_reprocess_asset_reason"
            ),
            fields.LongNameIndex(
                fields=["status", "scheduled_at", "priority"],
                name="idx_sticker_reprocess_status_schedule",
            ),
            fields.LongNameIndex(
                fields=["worker_token"], name="idx_sticker_reprocess_worker_token"
            ),
            fields.LongNameIndex(
                fields=["status", "priority", "scheduled_at", "id"],
                name="idx_sticker_reprocess_claim",
            ),
        ]
        constraints = [
            fields.ForeignKeyConstraint(
                name="fk_sticker_reprocess_asset",
                column="asset_id",
                references="sticker_asset.id",
                on_delete="CASCADE",
            ),
        ]

    def __str__(self) -> str:
        return self.reason


class WorkerTask(models.Model):
    """A leased run of one of the three worker cycles."""

    id = fields.BigUnsignedAutoField(primary_key=True)
    task_type = fields.EnumField(max_length=20, choices=choices.WorkerTaskType)
    idempotency_key = fields.CharField(max_length=180, null=True, blank=True)
    payload = models.JSONField(null=True, blank=True)
    priority = fields.TinyUnsignedField(default=50, db_default=50)
    scheduled_at = fields.TimestampField(
        default=fields.now_seconds, db_default=fields.CurrentTimestamp()
    )
    status = fields.EnumField(
        max_length=10,
        choices=choices.LeaseStatus,
        default=choices.LeaseStatus.PENDING,
        db_default=choices.LeaseStatus.PENDING.value,
    )
    attempts = fields.TinyUnsignedField(default=0, db_default=0)
    max_attempts = fields.TinyUnsignedField(default=5, db_default=5)
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
        db_table = "sticker_worker_task_queue"
        verbose_name = _("worker task")
        verbose_name_plural = _("worker tasks")
        indexes = [
            fields.LongNameIndex(
                fields=["status", "scheduled_at", "priority"],
                name="idx_sticker_worker_task_status_schedule",
            ),
            fields.LongNameIndex(
                fields=["task_type", "status", "scheduled_at", "priority"],
                name="idx_sticker_worker_task_type_status_schedule",
            ),
            fields.LongNameIndex(
                fields=["worker_token"], name="idx_sticker_worker_task_worker_token"
            ),
            fields.LongNameIndex(
                fields=["task_type", "status", "priority", "scheduled_at", "id"],
                name="idx_sticker_worker_task_claim",
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["idempotency_key"], name="uq_sticker_worker_task_idempotency_key"
            ),
        ]

    def __str__(self) -> str:
        return self.task_type


class WorkerTaskDeadLetter(models.Model):
    """The copy of a worker task that used up its attempts."""

    id = fields.BigUnsignedAutoField(primary_key=True)
    task_id = fields.BigUnsignedField(null=True, blank=True)
    task_type = fields.EnumField(max_length=20, choices=choices.WorkerTaskType)
    payload = models.JSONField(null=True, blank=True)
    idempotency_key = fields.CharField(max_length=180, null=True, blank=True)
    attempts = fields.TinyUnsignedField(default=0, db_default=0)
    max_attempts = fields.TinyUnsignedField(default=0, db_default=0)
    priority = fields.TinyUnsignedField(default=0, db_default=0)
    last_error = fields.CharField(max_length=255, null=True, blank=True)
    failed_at = fields.TimestampField(
        default=fields.now_seconds, db_default=fields.CurrentTimestamp()
    )
    created_at = fields.TimestampField(
        default=fields.now_seconds, db_default=fields.CurrentTimestamp()
    )

    class Meta:
        db_table = "sticker_worker_task_dlq"
        verbose_name = _("worker task dead letter")
        verbose_name_plural = _("worker task dead letters")
        indexes = [
            fields.LongNameIndex(
                fields=["idempotency_key"], name="idx_sticker_worker_task_dlq_idempotency_key"
            ),
            fields.LongNameIndex(fields=["task_id"], name="idx_sticker_worker_task_dlq_task_id"),
            fields.LongNameIndex(
                fields=["task_type", "failed_at"], name="idx_sticker_worker_task_dlq_type_failed_at"
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["task_id"], name="uq_sticker_worker_task_dlq_task_id"),
        ]

    def __str__(self) -> str:
        return self.task_type
