"""Stickers and what classifiers say of them."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.common import fields


class StickerAsset(models.Model):
    """One sticker image, stored once however many packs show it."""

    id = fields.FixedCharField(max_length=36, primary_key=True, default=fields.new_id)
    owner_jid = fields.CharField(max_length=255)
    sha256 = fields.FixedCharField(max_length=64)
    mimetype = fields.CharField(max_length=64)
    is_animated = models.BooleanField(default=False, db_default=False)
    width = fields.UnsignedField(null=True, blank=True)
    height = fields.UnsignedField(null=True, blank=True)
    size_bytes = fields.UnsignedField()
    storage_path = fields.CharField(max_length=1024)
    created_at = fields.TimestampField(
        null=True, blank=True, default=fields.now_seconds, db_default=fields.CurrentTimestamp()
    )

    class Meta:
        db_table = "sticker_asset"
        verbose_name = _("sticker")
        verbose_name_plural = _("stickers")
        indexes = [
            fields.LongNameIndex(fields=["created_at"], name="idx_sticker_asset_created_at"),
            fields.LongNameIndex(
                fields=["owner_jid", "created_at"], name="idx_sticker_asset_owner_created"
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["sha256"], name="uq_sticker_asset_sha256"),
        ]

    def __str__(self) -> str:
        return self.sha256


class AssetClassification(models.Model):
    """What a classifier saw in a sticker."""

    asset = models.OneToOneField(
        StickerAsset,
        models.CASCADE,
        primary_key=True,
        db_constraint=False,
        related_name="classification",
    )
    provider = fields.CharField(max_length=64, default="clip", db_default="clip")
    model_name = fields.CharField(max_length=120, null=True, blank=True)
    classification_version = fields.CharField(max_length=32, default="v1", db_default="v1")
    category = fields.CharField(max_length=120, null=True, blank=True)
    confidence = models.DecimalField(max_digits=6, decimal_places=5, null=True, blank=True)
    entropy = models.DecimalField(max_digits=8, decimal_places=6, null=True, blank=True)
    confidence_margin = models.DecimalField(max_digits=8, decimal_places=6, null=True, blank=True)
    nsfw_score = models.DecimalField(max_digits=6, decimal_places=5, null=True, blank=True)
    is_nsfw = models.BooleanField(default=False, db_default=False)
    all_scores = models.JSONField(null=True, blank=True)
    top_labels = models.JSONField(null=True, blank=True)
    affinity_weight = models.DecimalField(max_digits=8, decimal_places=6, null=True, blank=True)
    image_hash = fields.FixedCharField(max_length=64, null=True, blank=True)
    ambiguous = models.BooleanField(default=False, db_default=False)
    llm_subtags = models.JSONField(null=True, blank=True)
    llm_style_traits = models.JSONField(null=True, blank=True)
    llm_emotions = models.JSONField(null=True, blank=True)
    llm_pack_suggestions = models.JSONField(null=True, blank=True)
    semantic_cluster_id = fields.BigUnsignedField(null=True, blank=True)
    semantic_cluster_slug = fields.CharField(max_length=255, null=True, blank=True)
    similar_images = models.JSONField(null=True, blank=True)
    classified_at = fields.TimestampField(
        null=True, blank=True, default=fields.now_seconds, db_default=fields.CurrentTimestamp()
    )
    updated_at = fields.TimestampField(
        null=True,
        blank=True,
        default=fields.now_seconds,
        db_default=fields.CurrentTimestamp(),
        on_update=True,
    )

    class Meta:
        db_table = "sticker_asset_classification"
        verbose_name = _("classification")
        verbose_name_plural = _("classifications")
        indexes = [
            fields.LongNameIndex(
                fields=["category"], name="idx_sticker_asset_classification_category"
            ),
            fields.LongNameIndex(
                fields=["confidence"], name="idx_sticker_asset_classification_confidence"
            ),
            fields.LongNameIndex(fields=["is_nsfw"], name="idx_sticker_asset_classification_nsfw"),
            fields.LongNameIndex(
                fields=["semantic_cluster_id"],
                name="idx_sticker_asset_classification_semantic_cluster",
            ),
            fields.LongNameIndex(
                fields=["updated_at"], name="idx_sticker_asset_classification_updated_at"
            ),
            fields.LongNameIndex(
                fields=["classification_version", "updated_at"],
                name="idx_sticker_asset_classification_version_updated",
            ),
        ]
        constraints = [
            fields.ForeignKeyConstraint(
                name="fk_sticker_asset_classification_asset",
                column="asset_id",
                references="sticker_asset.id",
                on_delete="CASCADE",
            ),
        ]

    def __str__(self) -> str:
        return self.category or str(self.pk)
