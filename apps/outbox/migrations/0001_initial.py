"""The mirrored tables, columns in the order of the original.

Kept by hand: Django would put foreign keys last. Never alter a mirrored column (docs/schema.md).
"""

import apps.common.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="OutboxEvent",
            fields=[
                ("id", apps.common.fields.BigUnsignedAutoField(primary_key=True, serialize=False)),
                ("event_type", apps.common.fields.CharField(max_length=96)),
                ("aggregate_type", apps.common.fields.CharField(max_length=96)),
                ("aggregate_id", apps.common.fields.CharField(max_length=128)),
                ("payload", models.JSONField(blank=True, null=True)),
                (
                    "status",
                    apps.common.fields.EnumField(
                        choices=[
                            ("pending", "pending"),
                            ("processing", "processing"),
                            ("completed", "completed"),
                            ("failed", "failed"),
                        ],
                        db_default="pending",
                        default="pending",
                        max_length=10,
                    ),
                ),
                ("priority", apps.common.fields.TinyUnsignedField(db_default=50, default=50)),
                (
                    "idempotency_key",
                    apps.common.fields.CharField(blank=True, max_length=180, null=True),
                ),
                (
                    "available_at",
                    apps.common.fields.TimestampField(
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                    ),
                ),
                ("attempts", apps.common.fields.TinyUnsignedField(db_default=0, default=0)),
                ("max_attempts", apps.common.fields.TinyUnsignedField(db_default=10, default=10)),
                (
                    "worker_token",
                    apps.common.fields.FixedCharField(blank=True, max_length=36, null=True),
                ),
                ("last_error", apps.common.fields.CharField(blank=True, max_length=255, null=True)),
                ("locked_at", apps.common.fields.TimestampField(blank=True, null=True)),
                ("processed_at", apps.common.fields.TimestampField(blank=True, null=True)),
                (
                    "created_at",
                    apps.common.fields.TimestampField(
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                    ),
                ),
                (
                    "updated_at",
                    apps.common.fields.TimestampField(
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                        on_update=True,
                    ),
                ),
            ],
            options={
                "verbose_name": "outbox event",
                "verbose_name_plural": "outbox events",
                "db_table": "domain_event_outbox",
                "indexes": [
                    apps.common.fields.LongNameIndex(
                        fields=["aggregate_type", "aggregate_id", "created_at"],
                        name="idx_domain_event_outbox_aggregate",
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["event_type", "status", "available_at"],
                        name="idx_domain_event_outbox_event_type",
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["status", "available_at", "priority"],
                        name="idx_domain_event_outbox_status_sched",
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["worker_token"], name="idx_domain_event_outbox_worker_token"
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["status", "priority", "available_at", "id"],
                        name="idx_domain_event_outbox_claim",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("idempotency_key",), name="uq_domain_event_outbox_idempotency_key"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="OutboxDeadLetter",
            fields=[
                ("id", apps.common.fields.BigUnsignedAutoField(primary_key=True, serialize=False)),
                ("outbox_event_id", apps.common.fields.BigUnsignedField(blank=True, null=True)),
                ("event_type", apps.common.fields.CharField(max_length=96)),
                ("aggregate_type", apps.common.fields.CharField(max_length=96)),
                ("aggregate_id", apps.common.fields.CharField(max_length=128)),
                ("payload", models.JSONField(blank=True, null=True)),
                ("attempts", apps.common.fields.TinyUnsignedField(db_default=0, default=0)),
                ("max_attempts", apps.common.fields.TinyUnsignedField(db_default=0, default=0)),
                ("last_error", apps.common.fields.CharField(blank=True, max_length=255, null=True)),
                (
                    "failed_at",
                    apps.common.fields.TimestampField(
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                    ),
                ),
                (
                    "created_at",
                    apps.common.fields.TimestampField(
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                    ),
                ),
            ],
            options={
                "verbose_name": "dead letter",
                "verbose_name_plural": "dead letters",
                "db_table": "domain_event_outbox_dlq",
                "indexes": [
                    apps.common.fields.LongNameIndex(
                        fields=["aggregate_type", "aggregate_id", "failed_at"],
                        name="idx_domain_event_outbox_dlq_aggregate",
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["event_type", "failed_at"], name="idx_domain_event_outbox_dlq_event"
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["outbox_event_id"],
                        name="idx_domain_event_outbox_dlq_outbox_event_id",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("outbox_event_id",), name="uq_domain_event_outbox_dlq_outbox_event"
                    )
                ],
            },
        ),
    ]
