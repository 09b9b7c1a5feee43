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
            name="FeatureFlag",
            fields=[
                ("id", apps.common.fields.BigUnsignedAutoField(primary_key=True, serialize=False)),
                ("flag_name", apps.common.fields.CharField(max_length=120)),
                ("is_enabled", models.BooleanField(db_default=False, default=False)),
                (
                    "rollout_percent",
                    apps.common.fields.TinyUnsignedField(db_default=100, default=100),
                ),
                (
                    "description",
                    apps.common.fields.CharField(blank=True, max_length=255, null=True),
                ),
                ("updated_by", apps.common.fields.CharField(blank=True, max_length=120, null=True)),
                (
                    "updated_at",
                    apps.common.fields.TimestampField(
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                        on_update=True,
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
                "verbose_name": "feature flag",
                "verbose_name_plural": "feature flags",
                "db_table": "feature_flag",
                "indexes": [
                    apps.common.fields.LongNameIndex(
                        fields=["is_enabled", "rollout_percent"], name="idx_feature_flag_enabled"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("flag_name",), name="uq_feature_flag_name")
                ],
            },
        ),
    ]
