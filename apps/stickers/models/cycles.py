"""What the worker cycles remember from run to run; tables of Pombo's own."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.common import fields
from apps.stickers.models.assets import StickerAsset


class CycleCursor(models.Model):
    """Where a pass over many rows stopped, and the lock that lets one worker at a time go on."""

    name = models.CharField(max_length=32, primary_key=True)
    position = models.CharField(max_length=64, default="", blank=True)
    moved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "stickers_cycle_cursor"
        verbose_name = _("cycle cursor")
        verbose_name_plural = _("cycle cursors")

    def __str__(self) -> str:
        return self.name


class CategoryDrift(models.Model):
    """How far the categories of a week had moved from those of a month, and the weights it gave."""

    measured_at = models.DateTimeField(_("measured at"), db_index=True)
    drift_score = models.DecimalField(_("drift"), max_digits=8, decimal_places=6)
    weights = models.JSONField(_("weights"))
    last_week = models.JSONField(_("categories of the week"))
    last_month = models.JSONField(_("categories of the month"))

    class Meta:
        db_table = "stickers_category_drift"
        verbose_name = _("shift of categories")
        verbose_name_plural = _("shifts of categories")

    def __str__(self) -> str:
        return str(self.drift_score)


class AssetFingerprint(models.Model):
    """A sticker's perceptual hash, whole and in four parts by which near copies are found."""

    asset = models.OneToOneField(
        StickerAsset,
        models.CASCADE,
        primary_key=True,
        db_constraint=False,
        related_name="fingerprint",
    )
    shape = fields.FixedCharField(max_length=16)
    colour = fields.FixedCharField(max_length=8)
    band_0 = models.PositiveIntegerField(db_index=True)
    band_1 = models.PositiveIntegerField(db_index=True)
    band_2 = models.PositiveIntegerField(db_index=True)
    band_3 = models.PositiveIntegerField(db_index=True)

    class Meta:
        db_table = "stickers_asset_fingerprint"
        verbose_name = _("fingerprint")
        verbose_name_plural = _("fingerprints")
        constraints = [
            # The database itself cascades, so that other programs may delete stickers.
            fields.ForeignKeyConstraint(
                name="fk_stickers_asset_fingerprint_asset",
                column="asset_id",
                references="sticker_asset.id",
                on_delete="CASCADE",
            ),
        ]

    def __str__(self) -> str:
        return self.shape
