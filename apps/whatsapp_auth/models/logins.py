"""What Pombo keeps beside the mirrored tables: used links, audit lines, notices and LID history.

People are named here by keyed digests where a line only has to be found again, never read.
"""

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.whatsapp_auth.choices import NoticeKind


class LinkUse(models.Model):
    """A login link that has been used up; inserting it is what consumes the link."""

    link_id = models.CharField(max_length=64, unique=True)
    google_sub = models.CharField(max_length=80)
    used_at = models.DateTimeField(_("used"), db_index=True)

    class Meta:
        db_table = "whatsapp_auth_link_use"
        verbose_name = _("used login link")
        verbose_name_plural = _("used login links")

    def __str__(self) -> str:
        return self.link_id[:12]


class PhoneGuard(models.Model):
    """One row per phone that signs in: its lock, and the time before which its links are void.

    All national spellings of a number share the row of the first one.
    """

    phone = models.CharField(max_length=15, primary_key=True)
    links_void_before = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "whatsapp_auth_phone_guard"
        verbose_name = _("phone guard")
        verbose_name_plural = _("phone guards")

    def __str__(self) -> str:
        return self.phone


class LoginEvent(models.Model):
    """One line of the sign-in audit: what came of a link, never the link itself."""

    occurred_at = models.DateTimeField(_("time"))
    outcome = models.CharField(_("outcome"), max_length=40)
    phone_digest = models.CharField(max_length=32, blank=True)
    account_digest = models.CharField(max_length=32, blank=True)
    address_digest = models.CharField(max_length=32, blank=True)
    actor = models.CharField(_("by"), max_length=120, blank=True)

    class Meta:
        db_table = "whatsapp_auth_login_event"
        verbose_name = _("sign-in event")
        verbose_name_plural = _("sign-in events")
        indexes = [
            models.Index(fields=["phone_digest", "occurred_at"], name="idx_wa_event_phone"),
            models.Index(fields=["address_digest", "occurred_at"], name="idx_wa_event_address"),
            models.Index(fields=["occurred_at"], name="idx_wa_event_time"),
        ]

    def __str__(self) -> str:
        return self.outcome


class AccountNotice(models.Model):
    """Something that a person must be told, shown once at the next visit."""

    google_sub = models.CharField(max_length=80)
    kind = models.CharField(max_length=32, choices=NoticeKind)
    masked_phone = models.CharField(max_length=20)
    created_at = models.DateTimeField()
    seen_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "whatsapp_auth_account_notice"
        verbose_name = _("notice")
        verbose_name_plural = _("notices")
        indexes = [models.Index(fields=["google_sub", "seen_at"], name="idx_wa_notice_unseen")]

    def __str__(self) -> str:
        return self.kind


class LidHistory(models.Model):
    """A time span in which a LID belonged to a phone; `valid_to` is empty while it still does."""

    lid = models.CharField(max_length=64)
    jid = models.CharField(max_length=64)
    source = models.CharField(max_length=32)
    valid_from = models.DateTimeField(_("from"))
    valid_to = models.DateTimeField(_("until"), null=True, blank=True)

    class Meta:
        db_table = "whatsapp_auth_lid_history"
        verbose_name = _("LID history")
        verbose_name_plural = _("LID history")
        indexes = [
            models.Index(fields=["lid", "valid_to"], name="idx_wa_lid_history_lid"),
            models.Index(fields=["jid", "valid_to"], name="idx_wa_lid_history_jid"),
            models.Index(fields=["valid_to"], name="idx_wa_lid_history_end"),
        ]

    def __str__(self) -> str:
        return f"{self.lid} {self.valid_from:%Y-%m-%d}"
