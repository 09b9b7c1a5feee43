"""Tokens with which bots and apps call the API."""

from datetime import datetime

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class ApiToken(models.Model):
    """A right to call the API; only the digest of the secret is kept.

    `owner` is the user on whose behalf the token acts: what it does is logged under that name, and
    it stops when that user is deactivated. A client-side token is meant for programs that others
    can read, and sees only what is marked visible to them.
    """

    name = models.CharField(_("name"), max_length=80)
    prefix = models.CharField(_("first characters"), max_length=12, unique=True)
    digest = models.CharField(max_length=64)
    scopes = models.JSONField(_("scopes"), default=list)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_tokens", verbose_name=_("owner")
    )
    is_client_side = models.BooleanField(_("used in clients"), default=False)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True)
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        db_table = "whatsapp_auth_api_token"
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    def is_usable(self, now: datetime) -> bool:
        """Neither revoked nor expired at that time."""
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > now)
