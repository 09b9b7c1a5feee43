"""Pombo's own tables beside the mirrored ones: sources of uploads, stored objects, owner locks."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.common import fields
from apps.stickers import choices
from apps.stickers.models.packs import PackWebUpload


class PackOwner(models.Model):
    """One row for each author, locked while a pack of theirs is created, so that limits hold."""

    owner_jid = fields.CharField(max_length=255, primary_key=True)
    locked_at = models.DateTimeField()

    class Meta:
        db_table = "stickers_pack_owner"
        verbose_name = _("pack owner")
        verbose_name_plural = _("pack owners")

    def __str__(self) -> str:
        return self.owner_jid


class UploadSource(models.Model):
    """What an upload announced of its file, and what is to become of the sticker."""

    upload = models.OneToOneField(
        PackWebUpload,
        models.CASCADE,
        primary_key=True,
        db_constraint=False,
        related_name="source",
        verbose_name=_("upload"),
    )
    size_bytes = models.PositiveIntegerField(_("size in bytes"))
    emojis = models.JSONField(_("emojis"), default=list)
    accessibility_label = models.CharField(_("accessibility label"), max_length=255, blank=True)
    becomes_cover = models.BooleanField(_("becomes the cover"), default=False)

    class Meta:
        db_table = "stickers_upload_source"
        verbose_name = _("source of an upload")
        verbose_name_plural = _("sources of uploads")

    def __str__(self) -> str:
        return f"{self.size_bytes} bytes"


class StoredObject(models.Model):
    """What is known of a sticker's copy in the object storage; found by the image's SHA-256.

    It outlives the sticker's row while its files are being removed, and says so by its state.
    """

    sha256 = models.CharField("SHA-256", max_length=64, primary_key=True)
    bucket = models.CharField(_("bucket"), max_length=255, blank=True)
    object_key = models.CharField(_("key"), max_length=1024, blank=True)
    state = models.CharField(
        _("state"), max_length=16, choices=choices.ObjectState, default=choices.ObjectState.PENDING
    )
    size_bytes = models.PositiveIntegerField(_("size in bytes"), null=True)
    stored_at = models.DateTimeField(_("stored"), null=True)
    checked_at = models.DateTimeField(_("last seen"), null=True)
    last_error = models.CharField(_("last error"), max_length=255, blank=True)

    class Meta:
        db_table = "stickers_stored_object"
        verbose_name = _("stored object")
        verbose_name_plural = _("stored objects")
        indexes = [
            models.Index(fields=["state", "checked_at"], name="idx_stickers_object_state"),
        ]

    def __str__(self) -> str:
        return self.object_key or self.sha256


class ObjectStorageHealth(models.Model):
    """Whether a bucket answered when it was last asked."""

    bucket = models.CharField(_("bucket"), max_length=255, primary_key=True)
    is_up = models.BooleanField(_("answers"), default=True)
    changed_at = models.DateTimeField(_("since"))
    checked_at = models.DateTimeField(_("last asked"))
    last_error = models.CharField(_("last error"), max_length=255, blank=True)

    class Meta:
        db_table = "stickers_object_storage_health"
        verbose_name = _("health of the object storage")
        verbose_name_plural = _("health of the object storage")

    def __str__(self) -> str:
        return self.bucket
