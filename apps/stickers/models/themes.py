"""Semantic themes for automatic packs."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.common import fields


class ThemeCluster(models.Model):
    """A theme that automatic packs gather around, with its embedding."""

    id = fields.BigUnsignedAutoField(primary_key=True)
    canonical_slug = fields.CharField(max_length=255)
    embedding_dim = fields.SmallUnsignedField()
    embedding = fields.MediumBlobField()
    created_at = fields.TimestampField(
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
        db_table = "semantic_theme_clusters"
        verbose_name = _("theme cluster")
        verbose_name_plural = _("theme clusters")
        indexes = [
            fields.LongNameIndex(fields=["created_at"], name="idx_semantic_theme_clusters_created"),
            fields.LongNameIndex(
                fields=["canonical_slug"], name="idx_semantic_theme_clusters_slug"
            ),
        ]

    def __str__(self) -> str:
        return self.canonical_slug


class ThemeSuggestion(models.Model):
    """A suggested theme text and the cluster it was matched to."""

    suggestion_hash = fields.FixedCharField(max_length=64, primary_key=True)
    suggestion_text = fields.CharField(max_length=512)
    normalized_text = fields.CharField(max_length=512)
    semantic_cluster = models.ForeignKey(
        ThemeCluster,
        models.CASCADE,
        db_constraint=False,
        db_index=False,
        related_name="suggestions",
    )
    canonical_slug = fields.CharField(max_length=255)
    embedding_dim = fields.SmallUnsignedField()
    embedding = fields.MediumBlobField()
    last_similarity = models.DecimalField(max_digits=8, decimal_places=6, null=True, blank=True)
    created_at = fields.TimestampField(
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
        db_table = "semantic_theme_suggestion_cache"
        verbose_name = _("theme suggestion")
        verbose_name_plural = _("theme suggestions")
        indexes = [
            fields.LongNameIndex(
                fields=["semantic_cluster"], name="idx_semantic_theme_cache_cluster"
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["normalized_text"], name="uq_semantic_theme_cache_normalized"
            ),
            fields.ForeignKeyConstraint(
                name="fk_semantic_theme_cache_cluster",
                column="semantic_cluster_id",
                references="semantic_theme_clusters.id",
                on_delete="CASCADE",
            ),
        ]

    def __str__(self) -> str:
        return self.normalized_text
