"""Releases: what an app was at a point in time."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.delivery.models.apps import App


class Release(models.Model):
    """An image by digest with the app's settings: numbered and immutable.

    The same release is promoted from one environment to the next without a rebuild, and rolled
    back to by its number.
    """

    app = models.ForeignKey(App, models.PROTECT, related_name="releases", verbose_name=_("app"))
    number = models.PositiveIntegerField(_("number"))
    image_digest = models.CharField(_("image digest"), max_length=71)
    config = models.JSONField(
        _("settings"), default=dict, help_text=_("The app's and plan's settings at that time.")
    )
    manifest_version = models.CharField(_("manifest version"), max_length=32)
    external_id = models.CharField(_("id at Central"), max_length=253, blank=True, db_index=True)
    note = models.CharField(_("note"), max_length=500, blank=True)
    actor = models.CharField(_("made by"), max_length=120)
    created_at = models.DateTimeField(_("made"))

    class Meta:
        db_table = "delivery_release"
        verbose_name = _("release")
        verbose_name_plural = _("releases")
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["app", "number"], name="uq_delivery_release_number")
        ]

    def __str__(self) -> str:
        return f"#{self.number}"

    @property
    def short_digest(self) -> str:
        """The first twelve characters of the digest, as people compare it."""
        return self.image_digest.removeprefix("sha256:")[:12]
