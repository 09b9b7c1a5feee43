"""The mirrored tables, columns in the order of the original.

Kept by hand: Django would put foreign keys last. Never alter a mirrored column (docs/schema.md).
"""

import apps.common.fields
import django.db.models.deletion
from decimal import Decimal
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="StickerAsset",
            fields=[
                (
                    "id",
                    apps.common.fields.FixedCharField(
                        default=apps.common.fields.new_id,
                        max_length=36,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("owner_jid", apps.common.fields.CharField(max_length=255)),
                ("sha256", apps.common.fields.FixedCharField(max_length=64)),
                ("mimetype", apps.common.fields.CharField(max_length=64)),
                ("is_animated", models.BooleanField(db_default=False, default=False)),
                ("width", apps.common.fields.UnsignedField(blank=True, null=True)),
                ("height", apps.common.fields.UnsignedField(blank=True, null=True)),
                ("size_bytes", apps.common.fields.UnsignedField()),
                ("storage_path", apps.common.fields.CharField(max_length=1024)),
                (
                    "created_at",
                    apps.common.fields.TimestampField(
                        blank=True,
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                        null=True,
                    ),
                ),
            ],
            options={
                "verbose_name": "sticker",
                "verbose_name_plural": "stickers",
                "db_table": "sticker_asset",
                "indexes": [
                    apps.common.fields.LongNameIndex(
                        fields=["created_at"], name="idx_sticker_asset_created_at"
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["owner_jid", "created_at"], name="idx_sticker_asset_owner_created"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("sha256",), name="uq_sticker_asset_sha256")
                ],
            },
        ),
        migrations.CreateModel(
            name="AssetClassification",
            fields=[
                (
                    "asset",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="classification",
                        serialize=False,
                        to="stickers.stickerasset",
                    ),
                ),
                (
                    "provider",
                    apps.common.fields.CharField(db_default="clip", default="clip", max_length=64),
                ),
                ("model_name", apps.common.fields.CharField(blank=True, max_length=120, null=True)),
                (
                    "classification_version",
                    apps.common.fields.CharField(db_default="v1", default="v1", max_length=32),
                ),
                ("category", apps.common.fields.CharField(blank=True, max_length=120, null=True)),
                (
                    "confidence",
                    models.DecimalField(blank=True, decimal_places=5, max_digits=6, null=True),
                ),
                (
                    "entropy",
                    models.DecimalField(blank=True, decimal_places=6, max_digits=8, null=True),
                ),
                (
                    "confidence_margin",
                    models.DecimalField(blank=True, decimal_places=6, max_digits=8, null=True),
                ),
                (
                    "nsfw_score",
                    models.DecimalField(blank=True, decimal_places=5, max_digits=6, null=True),
                ),
                ("is_nsfw", models.BooleanField(db_default=False, default=False)),
                ("all_scores", models.JSONField(blank=True, null=True)),
                ("top_labels", models.JSONField(blank=True, null=True)),
                (
                    "affinity_weight",
                    models.DecimalField(blank=True, decimal_places=6, max_digits=8, null=True),
                ),
                (
                    "image_hash",
                    apps.common.fields.FixedCharField(blank=True, max_length=64, null=True),
                ),
                ("ambiguous", models.BooleanField(db_default=False, default=False)),
                ("llm_subtags", models.JSONField(blank=True, null=True)),
                ("llm_style_traits", models.JSONField(blank=True, null=True)),
                ("llm_emotions", models.JSONField(blank=True, null=True)),
                ("llm_pack_suggestions", models.JSONField(blank=True, null=True)),
                ("semantic_cluster_id", apps.common.fields.BigUnsignedField(blank=True, null=True)),
                (
                    "semantic_cluster_slug",
                    apps.common.fields.CharField(blank=True, max_length=255, null=True),
                ),
                ("similar_images", models.JSONField(blank=True, null=True)),
                (
                    "classified_at",
                    apps.common.fields.TimestampField(
                        blank=True,
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                        null=True,
                    ),
                ),
                (
                    "updated_at",
                    apps.common.fields.TimestampField(
                        blank=True,
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                        null=True,
                        on_update=True,
                    ),
                ),
            ],
            options={
                "verbose_name": "classification",
                "verbose_name_plural": "classifications",
                "db_table": "sticker_asset_classification",
                "indexes": [
                    apps.common.fields.LongNameIndex(
                        fields=["category"], name="idx_sticker_asset_classification_category"
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["confidence"], name="idx_sticker_asset_classification_confidence"
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["is_nsfw"], name="idx_sticker_asset_classification_nsfw"
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["semantic_cluster_id"],
                        name="idx_sticker_asset_classification_semantic_cluster",
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["updated_at"], name="idx_sticker_asset_classification_updated_at"
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["classification_version", "updated_at"],
                        name="idx_sticker_asset_classification_version_updated",
                    ),
                ],
                "constraints": [
                    apps.common.fields.ForeignKeyConstraint(
                        column="asset_id",
                        name="fk_sticker_asset_classification_asset",
                        on_delete="CASCADE",
                        references="sticker_asset.id",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="StickerPack",
            fields=[
                (
                    "id",
                    apps.common.fields.FixedCharField(
                        default=apps.common.fields.new_id,
                        max_length=36,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("owner_jid", apps.common.fields.CharField(max_length=255)),
                ("name", apps.common.fields.CharField(max_length=120)),
                ("publisher", apps.common.fields.CharField(max_length=120)),
                ("description", apps.common.fields.TextField(blank=True, null=True)),
                ("pack_key", apps.common.fields.CharField(max_length=160)),
                (
                    "cover_sticker",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="covered_packs",
                        to="stickers.stickerasset",
                    ),
                ),
                (
                    "visibility",
                    apps.common.fields.EnumField(
                        choices=[
                            ("private", "private"),
                            ("public", "public"),
                            ("unlisted", "unlisted"),
                        ],
                        db_default="private",
                        default="private",
                        max_length=8,
                    ),
                ),
                (
                    "status",
                    apps.common.fields.EnumField(
                        choices=[
                            ("draft", "draft"),
                            ("uploading", "uploading"),
                            ("processing", "processing"),
                            ("published", "published"),
                            ("failed", "failed"),
                        ],
                        db_default="published",
                        default="published",
                        max_length=10,
                    ),
                ),
                (
                    "pack_status",
                    apps.common.fields.EnumField(
                        choices=[
                            ("building", "building"),
                            ("ready", "ready"),
                            ("archived", "archived"),
                        ],
                        db_default="ready",
                        default="ready",
                        max_length=8,
                    ),
                ),
                (
                    "pack_theme_key",
                    apps.common.fields.CharField(blank=True, max_length=96, null=True),
                ),
                ("pack_volume", apps.common.fields.UnsignedField(blank=True, null=True)),
                ("is_auto_pack", models.BooleanField(db_default=False, default=False)),
                ("last_rebalanced_at", apps.common.fields.TimestampField(blank=True, null=True)),
                ("version", apps.common.fields.UnsignedField(db_default=1, default=1)),
                (
                    "created_at",
                    apps.common.fields.TimestampField(
                        blank=True,
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                        null=True,
                    ),
                ),
                (
                    "updated_at",
                    apps.common.fields.TimestampField(
                        blank=True,
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                        null=True,
                        on_update=True,
                    ),
                ),
                ("deleted_at", apps.common.fields.TimestampField(blank=True, null=True)),
            ],
            options={
                "verbose_name": "sticker pack",
                "verbose_name_plural": "sticker packs",
                "db_table": "sticker_pack",
                "indexes": [
                    apps.common.fields.LongNameIndex(
                        fields=["owner_jid", "is_auto_pack", "pack_status", "updated_at"],
                        name="idx_sticker_pack_auto_owner_status",
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["is_auto_pack", "pack_theme_key", "pack_status", "pack_volume"],
                        name="idx_sticker_pack_auto_theme_status",
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["deleted_at", "status", "pack_status", "visibility", "updated_at"],
                        name="idx_sticker_pack_catalog_lookup",
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["created_at"], name="idx_sticker_pack_created"
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["owner_jid", "deleted_at"], name="idx_sticker_pack_owner_deleted"
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["owner_jid", "updated_at"], name="idx_sticker_pack_owner_updated"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("pack_key",), name="uq_sticker_pack_pack_key"),
                    apps.common.fields.ForeignKeyConstraint(
                        column="cover_sticker_id",
                        name="fk_sticker_pack_cover",
                        on_delete="SET NULL",
                        references="sticker_asset.id",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="StickerPackItem",
            fields=[
                (
                    "id",
                    apps.common.fields.FixedCharField(
                        default=apps.common.fields.new_id,
                        max_length=36,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "pack",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="stickers.stickerpack",
                    ),
                ),
                (
                    "sticker",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.RESTRICT,
                        related_name="pack_items",
                        to="stickers.stickerasset",
                    ),
                ),
                ("position", apps.common.fields.UnsignedField()),
                ("emojis", models.JSONField(blank=True, null=True)),
                (
                    "accessibility_label",
                    apps.common.fields.CharField(blank=True, max_length=255, null=True),
                ),
                (
                    "created_at",
                    apps.common.fields.TimestampField(
                        blank=True,
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                        null=True,
                    ),
                ),
            ],
            options={
                "verbose_name": "pack item",
                "verbose_name_plural": "pack items",
                "db_table": "sticker_pack_item",
                "indexes": [
                    apps.common.fields.LongNameIndex(
                        fields=["pack", "position"], name="idx_sticker_pack_item_pack_position"
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["sticker"], name="idx_sticker_pack_item_sticker_id"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("pack", "position"), name="uq_sticker_pack_item_pack_position"
                    ),
                    models.UniqueConstraint(
                        fields=("pack", "sticker"), name="uq_sticker_pack_item_pack_sticker"
                    ),
                    apps.common.fields.ForeignKeyConstraint(
                        column="sticker_id",
                        name="fk_sticker_pack_item_asset",
                        on_delete="RESTRICT",
                        references="sticker_asset.id",
                    ),
                    apps.common.fields.ForeignKeyConstraint(
                        column="pack_id",
                        name="fk_sticker_pack_item_pack",
                        on_delete="CASCADE",
                        references="sticker_pack.id",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PackWebUpload",
            fields=[
                (
                    "id",
                    apps.common.fields.FixedCharField(
                        default=apps.common.fields.new_id,
                        max_length=36,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "pack",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="uploads",
                        to="stickers.stickerpack",
                    ),
                ),
                ("upload_id", apps.common.fields.CharField(max_length=120)),
                ("sticker_hash", apps.common.fields.FixedCharField(max_length=64)),
                (
                    "source_mimetype",
                    apps.common.fields.CharField(blank=True, max_length=64, null=True),
                ),
                (
                    "upload_status",
                    apps.common.fields.EnumField(
                        choices=[
                            ("pending", "pending"),
                            ("processing", "processing"),
                            ("done", "done"),
                            ("failed", "failed"),
                        ],
                        db_default="pending",
                        default="pending",
                        max_length=10,
                    ),
                ),
                (
                    "sticker",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="uploads",
                        to="stickers.stickerasset",
                    ),
                ),
                ("error_code", apps.common.fields.CharField(blank=True, max_length=64, null=True)),
                (
                    "error_message",
                    apps.common.fields.CharField(blank=True, max_length=255, null=True),
                ),
                ("attempt_count", apps.common.fields.UnsignedField(db_default=0, default=0)),
                ("last_attempt_at", apps.common.fields.TimestampField(blank=True, null=True)),
                (
                    "created_at",
                    apps.common.fields.TimestampField(
                        blank=True,
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                        null=True,
                    ),
                ),
                (
                    "updated_at",
                    apps.common.fields.TimestampField(
                        blank=True,
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                        null=True,
                        on_update=True,
                    ),
                ),
            ],
            options={
                "verbose_name": "upload",
                "verbose_name_plural": "uploads",
                "db_table": "sticker_pack_web_upload",
                "indexes": [
                    apps.common.fields.LongNameIndex(
                        fields=["pack", "upload_status"],
                        name="idx_sticker_pack_web_upload_pack_status",
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["pack", "updated_at"],
                        name="idx_sticker_pack_web_upload_pack_updated",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("pack", "sticker_hash"), name="uq_sticker_pack_web_upload_pack_hash"
                    ),
                    models.UniqueConstraint(
                        fields=("pack", "upload_id"),
                        name="uq_sticker_pack_web_upload_pack_upload_id",
                    ),
                    apps.common.fields.ForeignKeyConstraint(
                        column="pack_id",
                        name="fk_sticker_pack_web_upload_pack",
                        on_delete="CASCADE",
                        references="sticker_pack.id",
                    ),
                    apps.common.fields.ForeignKeyConstraint(
                        column="sticker_id",
                        name="fk_sticker_pack_web_upload_sticker",
                        on_delete="SET NULL",
                        references="sticker_asset.id",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PackEngagement",
            fields=[
                (
                    "pack",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="engagement",
                        serialize=False,
                        to="stickers.stickerpack",
                    ),
                ),
                ("open_count", apps.common.fields.BigUnsignedField(db_default=0, default=0)),
                ("like_count", apps.common.fields.BigUnsignedField(db_default=0, default=0)),
                ("dislike_count", apps.common.fields.BigUnsignedField(db_default=0, default=0)),
                ("last_opened_at", apps.common.fields.TimestampField(blank=True, null=True)),
                (
                    "last_interacted_at",
                    apps.common.fields.TimestampField(
                        blank=True,
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                        null=True,
                        on_update=True,
                    ),
                ),
                (
                    "created_at",
                    apps.common.fields.TimestampField(
                        blank=True,
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                        null=True,
                    ),
                ),
                (
                    "updated_at",
                    apps.common.fields.TimestampField(
                        blank=True,
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                        null=True,
                        on_update=True,
                    ),
                ),
            ],
            options={
                "verbose_name": "engagement",
                "verbose_name_plural": "engagements",
                "db_table": "sticker_pack_engagement",
                "indexes": [
                    apps.common.fields.LongNameIndex(
                        fields=["like_count"], name="idx_sticker_pack_engagement_like"
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["open_count"], name="idx_sticker_pack_engagement_open"
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["updated_at"], name="idx_sticker_pack_engagement_updated"
                    ),
                ],
                "constraints": [
                    apps.common.fields.ForeignKeyConstraint(
                        column="pack_id",
                        name="fk_sticker_pack_engagement_pack",
                        on_delete="CASCADE",
                        references="sticker_pack.id",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="InteractionEvent",
            fields=[
                ("id", apps.common.fields.BigUnsignedAutoField(primary_key=True, serialize=False)),
                (
                    "pack",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="interactions",
                        to="stickers.stickerpack",
                    ),
                ),
                (
                    "interaction",
                    apps.common.fields.EnumField(
                        choices=[("open", "open"), ("like", "like"), ("dislike", "dislike")],
                        max_length=7,
                    ),
                ),
                ("actor_key", apps.common.fields.CharField(blank=True, max_length=120, null=True)),
                (
                    "session_key",
                    apps.common.fields.CharField(blank=True, max_length=120, null=True),
                ),
                ("source", apps.common.fields.CharField(blank=True, max_length=32, null=True)),
                (
                    "created_at",
                    apps.common.fields.TimestampField(
                        blank=True,
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                        null=True,
                    ),
                ),
            ],
            options={
                "verbose_name": "interaction",
                "verbose_name_plural": "interactions",
                "db_table": "sticker_pack_interaction_event",
                "indexes": [
                    apps.common.fields.LongNameIndex(
                        fields=["actor_key", "created_at"],
                        name="idx_sticker_pack_interaction_actor_created",
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["created_at"], name="idx_sticker_pack_interaction_created_at"
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["pack", "created_at"],
                        name="idx_sticker_pack_interaction_pack_created",
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["session_key", "created_at"],
                        name="idx_sticker_pack_interaction_session_created",
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["interaction", "created_at"],
                        name="idx_sticker_pack_interaction_type_created",
                    ),
                ],
                "constraints": [
                    apps.common.fields.ForeignKeyConstraint(
                        column="pack_id",
                        name="fk_sticker_pack_interaction_pack",
                        on_delete="CASCADE",
                        references="sticker_pack.id",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="PackScoreSnapshot",
            fields=[
                (
                    "pack",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="snapshot",
                        serialize=False,
                        to="stickers.stickerpack",
                    ),
                ),
                (
                    "ranking_score",
                    models.DecimalField(
                        db_default=Decimal("0"),
                        decimal_places=6,
                        default=Decimal("0"),
                        max_digits=10,
                    ),
                ),
                (
                    "pack_score",
                    models.DecimalField(
                        db_default=Decimal("0"),
                        decimal_places=6,
                        default=Decimal("0"),
                        max_digits=10,
                    ),
                ),
                (
                    "trend_score",
                    models.DecimalField(
                        db_default=Decimal("0"),
                        decimal_places=6,
                        default=Decimal("0"),
                        max_digits=10,
                    ),
                ),
                (
                    "quality_score",
                    models.DecimalField(
                        db_default=Decimal("0"),
                        decimal_places=6,
                        default=Decimal("0"),
                        max_digits=10,
                    ),
                ),
                (
                    "engagement_score",
                    models.DecimalField(
                        db_default=Decimal("0"),
                        decimal_places=6,
                        default=Decimal("0"),
                        max_digits=10,
                    ),
                ),
                (
                    "diversity_score",
                    models.DecimalField(
                        db_default=Decimal("0"),
                        decimal_places=6,
                        default=Decimal("0"),
                        max_digits=10,
                    ),
                ),
                (
                    "cohesion_score",
                    models.DecimalField(
                        db_default=Decimal("0"),
                        decimal_places=6,
                        default=Decimal("0"),
                        max_digits=10,
                    ),
                ),
                ("sensitive_content", models.BooleanField(db_default=False, default=False)),
                (
                    "nsfw_level",
                    apps.common.fields.EnumField(
                        choices=[
                            ("safe", "safe"),
                            ("suggestive", "suggestive"),
                            ("explicit", "explicit"),
                        ],
                        db_default="safe",
                        default="safe",
                        max_length=10,
                    ),
                ),
                ("sticker_count", apps.common.fields.UnsignedField(db_default=0, default=0)),
                ("tags", models.JSONField(blank=True, null=True)),
                ("scores_json", models.JSONField(blank=True, null=True)),
                (
                    "source_version",
                    apps.common.fields.CharField(db_default="v1", default="v1", max_length=32),
                ),
                (
                    "refreshed_at",
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
                "verbose_name": "score snapshot",
                "verbose_name_plural": "score snapshots",
                "db_table": "sticker_pack_score_snapshot",
                "indexes": [
                    apps.common.fields.LongNameIndex(
                        fields=["ranking_score"], name="idx_sticker_pack_score_snapshot_ranking"
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["refreshed_at"], name="idx_sticker_pack_score_snapshot_refresh"
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["trend_score"], name="idx_sticker_pack_score_snapshot_trend"
                    ),
                ],
                "constraints": [
                    apps.common.fields.ForeignKeyConstraint(
                        column="pack_id",
                        name="fk_sticker_pack_score_snapshot_pack",
                        on_delete="CASCADE",
                        references="sticker_pack.id",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ReprocessTask",
            fields=[
                ("id", apps.common.fields.BigUnsignedAutoField(primary_key=True, serialize=False)),
                (
                    "asset",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reprocess_tasks",
                        to="stickers.stickerasset",
                    ),
                ),
                (
                    "reason",
                    apps.common.fields.EnumField(
                        choices=[
                            ("MODEL_UPGRADE", "model upgrade"),
                            ("LOW_CONFIDENCE", "low confidence"),
                            ("TREND_SHIFT", "trend shift"),
                            ("NSFW_REVIEW", "sensitive content review"),
                        ],
                        max_length=14,
                    ),
                ),
                ("priority", apps.common.fields.TinyUnsignedField(db_default=50, default=50)),
                (
                    "scheduled_at",
                    apps.common.fields.TimestampField(
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                    ),
                ),
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
                ("attempts", apps.common.fields.TinyUnsignedField(db_default=0, default=0)),
                ("max_attempts", apps.common.fields.TinyUnsignedField(db_default=5, default=5)),
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
                "verbose_name": "reprocess task",
                "verbose_name_plural": "reprocess tasks",
                "db_table": "sticker_asset_reprocess_queue",
                "indexes": [
                    apps.common.fields.LongNameIndex(
                        fields=["asset", "reason"], name="idx_sticker_reprocess_asset_reason"
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["status", "scheduled_at", "priority"],
                        name="idx_sticker_reprocess_status_schedule",
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["worker_token"], name="idx_sticker_reprocess_worker_token"
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["status", "priority", "scheduled_at", "id"],
                        name="idx_sticker_reprocess_claim",
                    ),
                ],
                "constraints": [
                    apps.common.fields.ForeignKeyConstraint(
                        column="asset_id",
                        name="fk_sticker_reprocess_asset",
                        on_delete="CASCADE",
                        references="sticker_asset.id",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="WorkerTask",
            fields=[
                ("id", apps.common.fields.BigUnsignedAutoField(primary_key=True, serialize=False)),
                (
                    "task_type",
                    apps.common.fields.EnumField(
                        choices=[
                            ("classification_cycle", "classification cycle"),
                            ("curation_cycle", "curation cycle"),
                            ("rebuild_cycle", "rebuild cycle"),
                        ],
                        max_length=20,
                    ),
                ),
                (
                    "idempotency_key",
                    apps.common.fields.CharField(blank=True, max_length=180, null=True),
                ),
                ("payload", models.JSONField(blank=True, null=True)),
                ("priority", apps.common.fields.TinyUnsignedField(db_default=50, default=50)),
                (
                    "scheduled_at",
                    apps.common.fields.TimestampField(
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                    ),
                ),
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
                ("attempts", apps.common.fields.TinyUnsignedField(db_default=0, default=0)),
                ("max_attempts", apps.common.fields.TinyUnsignedField(db_default=5, default=5)),
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
                "verbose_name": "worker task",
                "verbose_name_plural": "worker tasks",
                "db_table": "sticker_worker_task_queue",
                "indexes": [
                    apps.common.fields.LongNameIndex(
                        fields=["status", "scheduled_at", "priority"],
                        name="idx_sticker_worker_task_status_schedule",
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["task_type", "status", "scheduled_at", "priority"],
                        name="idx_sticker_worker_task_type_status_schedule",
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["worker_token"], name="idx_sticker_worker_task_worker_token"
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["task_type", "status", "priority", "scheduled_at", "id"],
                        name="idx_sticker_worker_task_claim",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("idempotency_key",), name="uq_sticker_worker_task_idempotency_key"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="WorkerTaskDeadLetter",
            fields=[
                ("id", apps.common.fields.BigUnsignedAutoField(primary_key=True, serialize=False)),
                ("task_id", apps.common.fields.BigUnsignedField(blank=True, null=True)),
                (
                    "task_type",
                    apps.common.fields.EnumField(
                        choices=[
                            ("classification_cycle", "classification cycle"),
                            ("curation_cycle", "curation cycle"),
                            ("rebuild_cycle", "rebuild cycle"),
                        ],
                        max_length=20,
                    ),
                ),
                ("payload", models.JSONField(blank=True, null=True)),
                (
                    "idempotency_key",
                    apps.common.fields.CharField(blank=True, max_length=180, null=True),
                ),
                ("attempts", apps.common.fields.TinyUnsignedField(db_default=0, default=0)),
                ("max_attempts", apps.common.fields.TinyUnsignedField(db_default=0, default=0)),
                ("priority", apps.common.fields.TinyUnsignedField(db_default=0, default=0)),
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
                "verbose_name": "worker task dead letter",
                "verbose_name_plural": "worker task dead letters",
                "db_table": "sticker_worker_task_dlq",
                "indexes": [
                    apps.common.fields.LongNameIndex(
                        fields=["idempotency_key"],
                        name="idx_sticker_worker_task_dlq_idempotency_key",
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["task_id"], name="idx_sticker_worker_task_dlq_task_id"
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["task_type", "failed_at"],
                        name="idx_sticker_worker_task_dlq_type_failed_at",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("task_id",), name="uq_sticker_worker_task_dlq_task_id"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ThemeCluster",
            fields=[
                ("id", apps.common.fields.BigUnsignedAutoField(primary_key=True, serialize=False)),
                ("canonical_slug", apps.common.fields.CharField(max_length=255)),
                ("embedding_dim", apps.common.fields.SmallUnsignedField()),
                ("embedding", apps.common.fields.MediumBlobField()),
                (
                    "created_at",
                    apps.common.fields.TimestampField(
                        blank=True,
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                        null=True,
                    ),
                ),
                (
                    "updated_at",
                    apps.common.fields.TimestampField(
                        blank=True,
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                        null=True,
                        on_update=True,
                    ),
                ),
            ],
            options={
                "verbose_name": "theme cluster",
                "verbose_name_plural": "theme clusters",
                "db_table": "semantic_theme_clusters",
                "indexes": [
                    apps.common.fields.LongNameIndex(
                        fields=["created_at"], name="idx_semantic_theme_clusters_created"
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["canonical_slug"], name="idx_semantic_theme_clusters_slug"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ThemeSuggestion",
            fields=[
                (
                    "suggestion_hash",
                    apps.common.fields.FixedCharField(
                        max_length=64, primary_key=True, serialize=False
                    ),
                ),
                ("suggestion_text", apps.common.fields.CharField(max_length=512)),
                ("normalized_text", apps.common.fields.CharField(max_length=512)),
                (
                    "semantic_cluster",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="suggestions",
                        to="stickers.themecluster",
                    ),
                ),
                ("canonical_slug", apps.common.fields.CharField(max_length=255)),
                ("embedding_dim", apps.common.fields.SmallUnsignedField()),
                ("embedding", apps.common.fields.MediumBlobField()),
                (
                    "last_similarity",
                    models.DecimalField(blank=True, decimal_places=6, max_digits=8, null=True),
                ),
                (
                    "created_at",
                    apps.common.fields.TimestampField(
                        blank=True,
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                        null=True,
                    ),
                ),
                (
                    "updated_at",
                    apps.common.fields.TimestampField(
                        blank=True,
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                        null=True,
                        on_update=True,
                    ),
                ),
            ],
            options={
                "verbose_name": "theme suggestion",
                "verbose_name_plural": "theme suggestions",
                "db_table": "semantic_theme_suggestion_cache",
                "indexes": [
                    apps.common.fields.LongNameIndex(
                        fields=["semantic_cluster"], name="idx_semantic_theme_cache_cluster"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("normalized_text",), name="uq_semantic_theme_cache_normalized"
                    ),
                    apps.common.fields.ForeignKeyConstraint(
                        column="semantic_cluster_id",
                        name="fk_semantic_theme_cache_cluster",
                        on_delete="CASCADE",
                        references="semantic_theme_clusters.id",
                    ),
                ],
            },
        ),
    ]
