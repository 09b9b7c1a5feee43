"""Runs of the curation with their decisions, and what operators say of automatic packs."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.stickers import choices
from apps.stickers.models.assets import StickerAsset
from apps.stickers.models.packs import StickerPack


class CurationRun(models.Model):
    """One run: what it was asked for, how it ended and how many decisions of each kind it made."""

    mode = models.CharField(_("mode"), max_length=16, choices=choices.CurationMode)
    is_dry_run = models.BooleanField(_("dry run"), default=False)
    status = models.CharField(
        _("status"),
        max_length=16,
        choices=choices.RunStatus,
        default=choices.RunStatus.RUNNING,
    )
    actor = models.CharField(_("asked for by"), max_length=120)
    started_at = models.DateTimeField(_("started at"), db_index=True)
    duration_ms = models.PositiveIntegerField(_("duration in ms"), null=True, blank=True)
    scanned_count = models.PositiveIntegerField(_("stickers looked at"), default=0)
    changed_count = models.PositiveIntegerField(_("packs changed"), default=0)
    summary = models.JSONField(_("decisions by kind"), default=dict)
    error = models.CharField(_("error"), max_length=255, default="", blank=True)

    class Meta:
        db_table = "stickers_curation_run"
        verbose_name = _("curation run")
        verbose_name_plural = _("curation runs")

    def __str__(self) -> str:
        return f"{self.get_mode_display()} {self.started_at:%Y-%m-%d %H:%M}"


class CurationDecision(models.Model):
    """One decision about a sticker or (without a sticker) about a pack, with its reason."""

    run = models.ForeignKey(CurationRun, models.CASCADE, related_name="decisions")
    verdict = models.CharField(_("verdict"), max_length=16, choices=choices.CurationVerdict)
    reason = models.CharField(_("reason"), max_length=24, choices=choices.CurationReason)
    theme_key = models.CharField(_("theme"), max_length=96, default="", blank=True)
    asset = models.ForeignKey(
        StickerAsset,
        models.SET_NULL,
        db_constraint=False,
        null=True,
        blank=True,
        related_name="curation_decisions",
    )
    pack = models.ForeignKey(
        StickerPack,
        models.SET_NULL,
        db_constraint=False,
        null=True,
        blank=True,
        related_name="curation_decisions",
    )
    score = models.FloatField(_("score"), null=True, blank=True)

    class Meta:
        db_table = "stickers_curation_decision"
        verbose_name = _("curation decision")
        verbose_name_plural = _("curation decisions")

    def __str__(self) -> str:
        return f"{self.verdict}: {self.reason}"


class AutoPackManager(models.Manager["AutoPack"]):
    """Automatic packs, those that were archived included."""

    def get_queryset(self) -> "models.QuerySet[AutoPack]":
        """Only packs that the curation made."""
        return super().get_queryset().filter(is_auto_pack=True)


class AutoPack(StickerPack):
    """A pack that the curation made; the same row, seen from the operator's side."""

    objects = AutoPackManager()  # type: ignore[misc]  # narrower than all packs, as meant

    class Meta:
        proxy = True
        verbose_name = _("automatic pack")
        verbose_name_plural = _("automatic packs")


class AutoPackControl(models.Model):
    """What an operator said of an automatic pack: leave it as it is, or publish it."""

    pack = models.OneToOneField(
        StickerPack,
        models.CASCADE,
        primary_key=True,
        db_constraint=False,
        related_name="auto_control",
    )
    is_paused = models.BooleanField(_("paused"), default=False)
    is_approved = models.BooleanField(_("approved"), default=False)
    actor = models.CharField(_("decided by"), max_length=120)
    reason = models.CharField(_("reason"), max_length=255, default="", blank=True)
    decided_at = models.DateTimeField(_("decided at"))

    class Meta:
        db_table = "stickers_auto_pack_control"
        verbose_name = _("decision on an automatic pack")
        verbose_name_plural = _("decisions on automatic packs")

    def __str__(self) -> str:
        return self.actor
