"""The mirrored identity tables."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.common import fields


class LidMapping(models.Model):
    """The phone identity (`jid`) behind a hidden WhatsApp identity (`lid`), as last heard."""

    lid = fields.CharField(max_length=64, primary_key=True)
    jid = fields.CharField(max_length=64, null=True, blank=True)
    first_seen = fields.TimestampField(
        null=True, blank=True, default=fields.now_seconds, db_default=fields.CurrentTimestamp()
    )
    last_seen = fields.TimestampField(
        null=True,
        blank=True,
        default=fields.now_seconds,
        db_default=fields.CurrentTimestamp(),
        on_update=True,
    )
    source = fields.CharField(max_length=32, null=True, blank=True)

    class Meta:
        db_table = "lid_map"
        verbose_name = _("LID mapping")
        verbose_name_plural = _("LID mappings")
        indexes = [
            fields.LongNameIndex(fields=["jid"], name="idx_lid_map_jid"),
            fields.LongNameIndex(fields=["last_seen"], name="idx_lid_map_last_seen"),
        ]

    def __str__(self) -> str:
        return self.lid


class GoogleUser(models.Model):
    """A Google account and the WhatsApp owner it signs in as."""

    google_sub = fields.CharField(max_length=80, primary_key=True)
    owner_jid = fields.CharField(max_length=120)
    owner_phone = fields.CharField(max_length=20, null=True, blank=True)
    email = fields.CharField(max_length=255, null=True, blank=True)
    name = fields.CharField(max_length=120, null=True, blank=True)
    picture_url = fields.CharField(max_length=1024, null=True, blank=True)
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
    last_login_at = fields.TimestampField(null=True, blank=True)
    last_seen_at = fields.TimestampField(null=True, blank=True)

    class Meta:
        db_table = "sticker_web_google_user"
        verbose_name = _("Google account")
        verbose_name_plural = _("Google accounts")
        indexes = [
            fields.LongNameIndex(fields=["email"], name="idx_sticker_web_google_user_email"),
            fields.LongNameIndex(
                fields=["owner_phone"], name="idx_sticker_web_google_user_owner_phone"
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["owner_jid"], name="uq_sticker_web_google_user_owner_jid"
            ),
        ]

    def __str__(self) -> str:
        return self.google_sub


class GoogleSession(models.Model):
    """A signed-in browser; `session_token` holds a digest, never the token."""

    session_token = fields.FixedCharField(max_length=36, primary_key=True)
    google_user = models.ForeignKey(
        GoogleUser,
        models.CASCADE,
        db_column="google_sub",
        db_constraint=False,
        db_index=False,
        related_name="sessions",
    )
    owner_jid = fields.CharField(max_length=120)
    owner_phone = fields.CharField(max_length=20, null=True, blank=True)
    email = fields.CharField(max_length=255, null=True, blank=True)
    name = fields.CharField(max_length=120, null=True, blank=True)
    picture_url = fields.CharField(max_length=1024, null=True, blank=True)
    expires_at = fields.TimestampField()
    revoked_at = fields.TimestampField(null=True, blank=True)
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
    last_seen_at = fields.TimestampField(null=True, blank=True)

    class Meta:
        db_table = "sticker_web_google_session"
        verbose_name = _("web session")
        verbose_name_plural = _("web sessions")
        indexes = [
            fields.LongNameIndex(
                fields=["expires_at"], name="idx_sticker_web_google_session_expires_at"
            ),
            fields.LongNameIndex(
                fields=["google_user"], name="idx_sticker_web_google_session_google_sub"
            ),
            fields.LongNameIndex(
                fields=["owner_jid"], name="idx_sticker_web_google_session_owner_jid"
            ),
            fields.LongNameIndex(
                fields=["owner_phone"], name="idx_sticker_web_google_session_owner_phone"
            ),
            fields.LongNameIndex(
                fields=["revoked_at", "expires_at"],
                name="idx_sticker_web_google_session_revoked_expires",
            ),
        ]
        constraints = [
            fields.ForeignKeyConstraint(
                name="fk_sticker_web_google_session_user",
                column="google_sub",
                references="sticker_web_google_user.google_sub",
                on_delete="CASCADE",
            ),
        ]

    def __str__(self) -> str:
        return self.google_user_id


class Ban(models.Model):
    """Somebody who may not sign in, named by account, address or owner."""

    id = fields.FixedCharField(max_length=36, primary_key=True, default=fields.new_id)
    google_sub = fields.CharField(max_length=80, null=True, blank=True)
    email = fields.CharField(max_length=255, null=True, blank=True)
    owner_jid = fields.CharField(max_length=255, null=True, blank=True)
    reason = fields.CharField(max_length=255, null=True, blank=True)
    created_by_google_sub = fields.CharField(max_length=80, null=True, blank=True)
    created_by_email = fields.CharField(max_length=255, null=True, blank=True)
    revoked_at = fields.TimestampField(null=True, blank=True)
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
        db_table = "sticker_web_admin_ban"
        verbose_name = _("ban")
        verbose_name_plural = _("bans")
        indexes = [
            fields.LongNameIndex(
                fields=["email", "revoked_at", "created_at"], name="idx_sticker_web_admin_ban_email"
            ),
            fields.LongNameIndex(
                fields=["google_sub", "revoked_at", "created_at"],
                name="idx_sticker_web_admin_ban_google_sub",
            ),
            fields.LongNameIndex(
                fields=["owner_jid", "revoked_at", "created_at"],
                name="idx_sticker_web_admin_ban_owner_jid",
            ),
            fields.LongNameIndex(
                fields=["revoked_at", "created_at"],
                name="idx_sticker_web_admin_ban_revoked_created",
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(google_sub__isnull=False)
                | models.Q(email__isnull=False)
                | models.Q(owner_jid__isnull=False),
                name="chk_sticker_web_admin_ban_identity",
            ),
        ]

    def __str__(self) -> str:
        return self.id


class Moderator(models.Model):
    """A moderator of the former admin panel; kept to be read and imported."""

    google_sub = fields.CharField(max_length=80, primary_key=True)
    owner_jid = fields.CharField(max_length=255)
    email = fields.CharField(max_length=255)
    name = fields.CharField(max_length=120, null=True, blank=True)
    password_hash = fields.CharField(max_length=255)
    created_by_google_sub = fields.CharField(max_length=80, null=True, blank=True)
    created_by_email = fields.CharField(max_length=255, null=True, blank=True)
    updated_by_google_sub = fields.CharField(max_length=80, null=True, blank=True)
    updated_by_email = fields.CharField(max_length=255, null=True, blank=True)
    last_login_at = fields.TimestampField(null=True, blank=True)
    revoked_at = fields.TimestampField(null=True, blank=True)
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
        db_table = "sticker_web_admin_moderator"
        verbose_name = _("moderator")
        verbose_name_plural = _("moderators")
        indexes = [
            fields.LongNameIndex(fields=["email"], name="idx_sticker_web_admin_moderator_email"),
            fields.LongNameIndex(
                fields=["owner_jid"], name="idx_sticker_web_admin_moderator_owner_jid"
            ),
            fields.LongNameIndex(
                fields=["revoked_at", "updated_at"],
                name="idx_sticker_web_admin_moderator_revoked_updated",
            ),
        ]

    def __str__(self) -> str:
        return self.email
