"""What visitors did with packs, and the scores drawn from it."""

from decimal import Decimal

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.common import fields
from apps.stickers import choices
from apps.stickers.models.packs import StickerPack


class PackEngagement(models.Model):
    """How often a pack was opened, liked and disliked."""

    pack = models.OneToOneField(
        StickerPack,
        models.CASCADE,
        primary_key=True,
        db_constraint=False,
        related_name="engagement",
    )
    open_count = fields.BigUnsignedField(default=0, db_default=0)
    like_count = fields.BigUnsignedField(default=0, db_default=0)
    dislike_count = fields.BigUnsignedField(default=0, db_default=0)
    last_opened_at = fields.TimestampField(null=True, blank=True)
    last_interacted_at = fields.TimestampField(
        null=True,
        blank=True,
        default=fields.now_seconds,
        db_default=fields.CurrentTimestamp(),
        on_update=True,
    )
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
        db_table = "sticker_pack_engagement"
        verbose_name = _("engagement")
        verbose_name_plural = _("engagements")
        indexes = [
            fields.LongNameIndex(fields=["like_count"], name="idx_sticker_pack_engagement_like"),
            fields.LongNameIndex(fields=["open_count"], name="idx_sticker_pack_engagement_open"),
            fields.LongNameIndex(fields=["updated_at"], name="idx_sticker_pack_engagement_updated"),
        ]
        constraints = [
            fields.ForeignKeyConstraint(
                name="fk_sticker_pack_engagement_pack",
                column="pack_id",
                references="sticker_pack.id",
                on_delete="CASCADE",
            ),
        ]

    def __str__(self) -> str:
        return str(self.pack_id)


class InteractionEvent(models.Model):
    """One visitor opening, liking or disliking a pack."""

    id = fields.BigUnsignedAutoField(primary_key=True)
    pack = models.ForeignKey(
        StickerPack,
        models.CASCADE,
        db_constraint=False,
        db_index=False,
        related_name="interactions",
    )
    interaction = fields.EnumField(max_length=7, choices=choices.Interaction)
    actor_key = fields.CharField(max_length=120, null=True, blank=True)
    session_key = fields.CharField(max_length=120, null=True, blank=True)
    source = fields.CharField(max_length=32, null=True, blank=True)
    created_at = fields.TimestampField(
        null=True, blank=True, default=fields.now_seconds, db_default=fields.CurrentTimestamp()
    )

    class Meta:
        db_table = "sticker_pack_interaction_event"
        verbose_name = _("interaction")
        verbose_name_plural = _("interactions")
        indexes = [
            fields.LongNameIndex(
                fields=["actor_key", "created_at"],
                name="idx_sticker_pack_interaction_actor_created",
            ),
            fields.LongNameIndex(
                fields=["created_at"], name="idx_sticker_pack_interaction_created_at"
            ),
            fields.LongNameIndex(
                fields=["pack", "created_at"], name="idx_sticker_pack_interaction_pack_created"
            ),
            fields.LongNameIndex(
                fields=["session_key", "created_at"],
                name="idx_sticker_pack_interaction_session_created",
            ),
            fields.LongNameIndex(
                fields=["interaction", "created_at"],
                name="idx_sticker_pack_interaction_type_created",
            ),
        ]
        constraints = [
            fields.ForeignKeyConstraint(
                name="fk_sticker_pack_interaction_pack",
                column="pack_id",
                references="sticker_pack.id",
                on_delete="CASCADE",
            ),
        ]

    def __str__(self) -> str:
        return self.interaction


class PackScoreSnapshot(models.Model):
    """A pack's scores as computed at `refreshed_at`; the catalogue is ranked by it."""

    pack = models.OneToOneField(
        StickerPack, models.CASCADE, primary_key=True, db_constraint=False, related_name="snapshot"
    )
    ranking_score = models.DecimalField(
        max_digits=10, decimal_places=6, default=Decimal(0), db_default=Decimal(0)
    )
    pack_score = models.DecimalField(
        max_digits=10, decimal_places=6, default=Decimal(0), db_default=Decimal(0)
    )
    trend_score = models.DecimalField(
        max_digits=10, decimal_places=6, default=Decimal(0), db_default=Decimal(0)
    )
    quality_score = models.DecimalField(
        max_digits=10, decimal_places=6, default=Decimal(0), db_default=Decimal(0)
    )
    engagement_score = models.DecimalField(
        max_digits=10, decimal_places=6, default=Decimal(0), db_default=Decimal(0)
    )
    diversity_score = models.DecimalField(
        max_digits=10, decimal_places=6, default=Decimal(0), db_default=Decimal(0)
    )
    cohesion_score = models.DecimalField(
        max_digits=10, decimal_places=6, default=Decimal(0), db_default=Decimal(0)
    )
    sensitive_content = models.BooleanField(default=False, db_default=False)
    nsfw_level = fields.EnumField(
        max_length=10,
        choices=choices.NsfwLevel,
        default=choices.NsfwLevel.SAFE,
        db_default=choices.NsfwLevel.SAFE.value,
    )
    sticker_count = fields.UnsignedField(default=0, db_default=0)
    tags = models.JSONField(null=True, blank=True)
    scores_json = models.JSONField(null=True, blank=True)
    source_version = fields.CharField(max_length=32, default="v1", db_default="v1")
    refreshed_at = fields.TimestampField(
        default=fields.now_seconds, db_default=fields.CurrentTimestamp()
    )
    created_at = fields.TimestampField(
        default=fields.now_seconds, db_default=fields.CurrentTimestamp()
    )
    updated_at = fields.TimestampField(
        default=fields.now_seconds, db_default=fields.CurrentTimestamp(), on_update=True
    )

    class Meta:
        db_table = "sticker_pack_score_snapshot"
        verbose_name = _("score snapshot")
        verbose_name_plural = _("score snapshots")
        indexes = [
            fields.LongNameIndex(
                fields=["ranking_score"], name="idx_sticker_pack_score_snapshot_ranking"
            ),
            fields.LongNameIndex(
                fields=["refreshed_at"], name="idx_sticker_pack_score_snapshot_refresh"
            ),
            fields.LongNameIndex(
                fields=["trend_score"], name="idx_sticker_pack_score_snapshot_trend"
            ),
        ]
        constraints = [
            fields.ForeignKeyConstraint(
                name="fk_sticker_pack_score_snapshot_pack",
                column="pack_id",
                references="sticker_pack.id",
                on_delete="CASCADE",
            ),
        ]

    def __str__(self) -> str:
        return str(self.pack_id)
