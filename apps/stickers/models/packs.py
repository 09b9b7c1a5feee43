"""Packs, their items and the uploads that fill them."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.common import fields
from apps.stickers import choices, markers
from apps.stickers.models.assets import StickerAsset


class StickerPack(models.Model):
    """A named, ordered set of stickers with an owner."""

    id = fields.FixedCharField(max_length=36, primary_key=True, default=fields.new_id)
    owner_jid = fields.CharField(max_length=255)
    name = fields.CharField(max_length=120)
    publisher = fields.CharField(max_length=120)
    description = fields.TextField(null=True, blank=True)
    pack_key = fields.CharField(max_length=160)
    cover_sticker = models.ForeignKey(
        StickerAsset,
        models.SET_NULL,
        db_constraint=False,
        db_index=False,
        null=True,
        blank=True,
        related_name="covered_packs",
    )
    visibility = fields.EnumField(
        max_length=8,
        choices=choices.Visibility,
        default=choices.Visibility.PRIVATE,
        db_default=choices.Visibility.PRIVATE.value,
    )
    status = fields.EnumField(
        max_length=10,
        choices=choices.PackStatus,
        default=choices.PackStatus.PUBLISHED,
        db_default=choices.PackStatus.PUBLISHED.value,
    )
    pack_status = fields.EnumField(
        max_length=8,
        choices=choices.CurationStatus,
        default=choices.CurationStatus.READY,
        db_default=choices.CurationStatus.READY.value,
    )
    pack_theme_key = fields.CharField(max_length=96, null=True, blank=True)
    pack_volume = fields.UnsignedField(null=True, blank=True)
    is_auto_pack = models.BooleanField(default=False, db_default=False)
    last_rebalanced_at = fields.TimestampField(null=True, blank=True)
    version = fields.UnsignedField(default=1, db_default=1)
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
    deleted_at = fields.TimestampField(null=True, blank=True)

    class Meta:
        db_table = "sticker_pack"
        verbose_name = _("sticker pack")
        verbose_name_plural = _("sticker packs")
        indexes = [
            fields.LongNameIndex(
                fields=["owner_jid", "is_auto_pack", "pack_status", "updated_at"],
                name="idx_sticker_pack_auto_owner_status",
            ),
            fields.LongNameIndex(
                fields=["is_auto_pack", "pack_theme_key", "pack_status", "pack_volume"],
                name="idx_sticker_pack_auto_theme_status",
            ),
            fields.LongNameIndex(
                fields=["deleted_at", "status", "pack_status", "visibility", "updated_at"],
                name="idx_sticker_pack_catalog_lookup",
            ),
            fields.LongNameIndex(fields=["created_at"], name="idx_sticker_pack_created"),
            fields.LongNameIndex(
                fields=["owner_jid", "deleted_at"], name="idx_sticker_pack_owner_deleted"
            ),
            fields.LongNameIndex(
                fields=["owner_jid", "updated_at"], name="idx_sticker_pack_owner_updated"
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["pack_key"], name="uq_sticker_pack_pack_key"),
            fields.ForeignKeyConstraint(
                name="fk_sticker_pack_cover",
                column="cover_sticker_id",
                references="sticker_asset.id",
                on_delete="SET NULL",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def shown_description(self) -> str:
        """The description without the tags that are hidden in it."""
        return markers.parse(self.description).text

    @property
    def manual_tags(self) -> list[str]:
        """The tags that its author gave it."""
        return list(markers.parse(self.description).tags)


class StickerPackItem(models.Model):
    """A sticker at its position in a pack."""

    id = fields.FixedCharField(max_length=36, primary_key=True, default=fields.new_id)
    pack = models.ForeignKey(
        StickerPack, models.CASCADE, db_constraint=False, db_index=False, related_name="items"
    )
    sticker = models.ForeignKey(
        StickerAsset,
        models.RESTRICT,
        db_constraint=False,
        db_index=False,
        related_name="pack_items",
    )
    position = fields.UnsignedField()
    emojis = models.JSONField(null=True, blank=True)
    accessibility_label = fields.CharField(max_length=255, null=True, blank=True)
    created_at = fields.TimestampField(
        null=True, blank=True, default=fields.now_seconds, db_default=fields.CurrentTimestamp()
    )

    class Meta:
        db_table = "sticker_pack_item"
        verbose_name = _("pack item")
        verbose_name_plural = _("pack items")
        indexes = [
            fields.LongNameIndex(
                fields=["pack", "position"], name="idx_sticker_pack_item_pack_position"
            ),
            fields.LongNameIndex(fields=["sticker"], name="idx_sticker_pack_item_sticker_id"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["pack", "position"], name="uq_sticker_pack_item_pack_position"
            ),
            models.UniqueConstraint(
                fields=["pack", "sticker"], name="uq_sticker_pack_item_pack_sticker"
            ),
            fields.ForeignKeyConstraint(
                name="fk_sticker_pack_item_asset",
                column="sticker_id",
                references="sticker_asset.id",
                on_delete="RESTRICT",
            ),
            fields.ForeignKeyConstraint(
                name="fk_sticker_pack_item_pack",
                column="pack_id",
                references="sticker_pack.id",
                on_delete="CASCADE",
            ),
        ]

    def __str__(self) -> str:
        return str(self.position)


class PackWebUpload(models.Model):
    """One upload into a pack, resumable by its upload id and source hash."""

    id = fields.FixedCharField(max_length=36, primary_key=True, default=fields.new_id)
    pack = models.ForeignKey(
        StickerPack, models.CASCADE, db_constraint=False, db_index=False, related_name="uploads"
    )
    upload_id = fields.CharField(max_length=120)
    sticker_hash = fields.FixedCharField(max_length=64)
    source_mimetype = fields.CharField(max_length=64, null=True, blank=True)
    upload_status = fields.EnumField(
        max_length=10,
        choices=choices.UploadStatus,
        default=choices.UploadStatus.PENDING,
        db_default=choices.UploadStatus.PENDING.value,
    )
    sticker = models.ForeignKey(
        StickerAsset,
        models.SET_NULL,
        db_constraint=False,
        db_index=False,
        null=True,
        blank=True,
        related_name="uploads",
    )
    error_code = fields.CharField(max_length=64, null=True, blank=True)
    error_message = fields.CharField(max_length=255, null=True, blank=True)
    attempt_count = fields.UnsignedField(default=0, db_default=0)
    last_attempt_at = fields.TimestampField(null=True, blank=True)
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
        db_table = "sticker_pack_web_upload"
        verbose_name = _("upload")
        verbose_name_plural = _("uploads")
        indexes = [
            fields.LongNameIndex(
                fields=["pack", "upload_status"], name="idx_sticker_pack_web_upload_pack_status"
            ),
            fields.LongNameIndex(
                fields=["pack", "updated_at"], name="idx_sticker_pack_web_upload_pack_updated"
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["pack", "sticker_hash"], name="uq_sticker_pack_web_upload_pack_hash"
            ),
            models.UniqueConstraint(
                fields=["pack", "upload_id"], name="uq_sticker_pack_web_upload_pack_upload_id"
            ),
            fields.ForeignKeyConstraint(
                name="fk_sticker_pack_web_upload_pack",
                column="pack_id",
                references="sticker_pack.id",
                on_delete="CASCADE",
            ),
            fields.ForeignKeyConstraint(
                name="fk_sticker_pack_web_upload_sticker",
                column="sticker_id",
                references="sticker_asset.id",
                on_delete="SET NULL",
            ),
        ]

    def __str__(self) -> str:
        return self.upload_id
