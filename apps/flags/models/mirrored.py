"""The mirrored flag table; rules beside it live in their own tables."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.common import fields


class FeatureFlag(models.Model):
    """A feature and the share of its subjects that have it; it wins over the environment."""

    id = fields.BigUnsignedAutoField(primary_key=True)
    flag_name = fields.CharField(max_length=120)
    is_enabled = models.BooleanField(default=False, db_default=False)
    rollout_percent = fields.TinyUnsignedField(default=100, db_default=100)
    description = fields.CharField(max_length=255, null=True, blank=True)
    updated_by = fields.CharField(max_length=120, null=True, blank=True)
    updated_at = fields.TimestampField(
        default=fields.now_seconds, db_default=fields.CurrentTimestamp(), on_update=True
    )
    created_at = fields.TimestampField(
        default=fields.now_seconds, db_default=fields.CurrentTimestamp()
    )

    class Meta:
        db_table = "feature_flag"
        verbose_name = _("feature flag")
        verbose_name_plural = _("feature flags")
        indexes = [
            fields.LongNameIndex(
                fields=["is_enabled", "rollout_percent"], name="idx_feature_flag_enabled"
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["flag_name"], name="uq_feature_flag_name"),
        ]

    def __str__(self) -> str:
        return self.flag_name
