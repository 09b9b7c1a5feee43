"""Pombo's own tables beside packs: their tags, what visitors reported, what moderators decided."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.common import fields
from apps.stickers import choices
from apps.stickers.models.packs import StickerPack


class PackTag(models.Model):
    """A tag of a ranked pack; written with its snapshot, so that filters find packs by index."""

    pack = models.ForeignKey(StickerPack, models.CASCADE, related_name="tag_rows")
    tag = fields.CharField(max_length=64)

    class Meta:
        db_table = "stickers_pack_tag"
        verbose_name = _("pack tag")
        verbose_name_plural = _("pack tags")
        constraints = [models.UniqueConstraint(fields=["tag", "pack"], name="uq_stickers_pack_tag")]

    def __str__(self) -> str:
        return self.tag


class PackReport(models.Model):
    """A visitor's complaint about a pack.

    `open_key` is unique while the report waits and empty afterwards: one open report per actor.
    """

    pack = models.ForeignKey(StickerPack, models.CASCADE, related_name="reports")
    actor_key = fields.CharField(max_length=120)
    open_key = fields.CharField(max_length=160, null=True, unique=True, editable=False)
    reason = models.CharField(_("reason"), max_length=16, choices=choices.ReportReason)
    text = models.CharField(_("what is wrong"), max_length=500, blank=True)
    outcome = models.CharField(
        _("outcome"), max_length=16, choices=choices.Outcome, default=choices.Outcome.OPEN
    )
    created_at = models.DateTimeField(_("reported at"))
    decided_at = models.DateTimeField(_("decided at"), null=True, blank=True)

    class Meta:
        db_table = "stickers_pack_report"
        verbose_name = _("report")
        verbose_name_plural = _("reports")
        indexes = [
            models.Index(fields=["outcome", "created_at"], name="idx_stickers_report_queue"),
        ]

    def __str__(self) -> str:
        return self.get_reason_display()


class PackModeration(models.Model):
    """What moderators decided about a pack and still holds; packs without a row are untouched."""

    pack = models.OneToOneField(
        StickerPack, models.CASCADE, primary_key=True, related_name="moderation"
    )
    is_hidden = models.BooleanField(_("hidden"), default=False)
    is_sensitive = models.BooleanField(_("marked sensitive"), default=False)

    class Meta:
        db_table = "stickers_pack_moderation"
        verbose_name = _("moderation state")
        verbose_name_plural = _("moderation states")
        permissions = [("moderate_pack", "Can decide about reported packs")]

    def __str__(self) -> str:
        return str(self.pack_id)


class ModerationDecision(models.Model):
    """One decision: what was done with a pack, by whom and why. Its author sees it, unsigned."""

    pack = models.ForeignKey(StickerPack, models.CASCADE, related_name="decisions")
    outcome = models.CharField(_("outcome"), max_length=16, choices=choices.Outcome)
    reason = models.CharField(_("why"), max_length=255)
    report_count = models.PositiveIntegerField(_("reports answered"), default=0)
    moderator = models.CharField(_("moderator"), max_length=150)
    decided_at = models.DateTimeField(_("decided at"))

    class Meta:
        db_table = "stickers_moderation_decision"
        verbose_name = _("moderation decision")
        verbose_name_plural = _("moderation decisions")
        indexes = [
            models.Index(fields=["pack", "decided_at"], name="idx_stickers_decision_pack"),
        ]

    def __str__(self) -> str:
        return self.get_outcome_display()
