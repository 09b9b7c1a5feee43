"""The mirrored tables, columns in the order of the original.

Kept by hand: Django would put foreign keys last. Never alter a mirrored column (docs/schema.md).
"""

import apps.common.fields
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="LidMapping",
            fields=[
                (
                    "lid",
                    apps.common.fields.CharField(max_length=64, primary_key=True, serialize=False),
                ),
                ("jid", apps.common.fields.CharField(blank=True, max_length=64, null=True)),
                (
                    "first_seen",
                    apps.common.fields.TimestampField(
                        blank=True,
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                        null=True,
                    ),
                ),
                (
                    "last_seen",
                    apps.common.fields.TimestampField(
                        blank=True,
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                        null=True,
                        on_update=True,
                    ),
                ),
                ("source", apps.common.fields.CharField(blank=True, max_length=32, null=True)),
            ],
            options={
                "verbose_name": "LID mapping",
                "verbose_name_plural": "LID mappings",
                "db_table": "lid_map",
                "indexes": [
                    apps.common.fields.LongNameIndex(fields=["jid"], name="idx_lid_map_jid"),
                    apps.common.fields.LongNameIndex(
                        fields=["last_seen"], name="idx_lid_map_last_seen"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="GoogleUser",
            fields=[
                (
                    "google_sub",
                    apps.common.fields.CharField(max_length=80, primary_key=True, serialize=False),
                ),
                ("owner_jid", apps.common.fields.CharField(max_length=120)),
                ("owner_phone", apps.common.fields.CharField(blank=True, max_length=20, null=True)),
                ("email", apps.common.fields.CharField(blank=True, max_length=255, null=True)),
                ("name", apps.common.fields.CharField(blank=True, max_length=120, null=True)),
                (
                    "picture_url",
                    apps.common.fields.CharField(blank=True, max_length=1024, null=True),
                ),
                (
                    "created_at",
                    apps.common.fields.TimestampField(
                        blank=True,
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                        null=True,
                    ),
                ),
                (
                    "updated_at",
                    apps.common.fields.TimestampField(
                        blank=True,
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                        null=True,
                        on_update=True,
                    ),
                ),
                ("last_login_at", apps.common.fields.TimestampField(blank=True, null=True)),
                ("last_seen_at", apps.common.fields.TimestampField(blank=True, null=True)),
            ],
            options={
                "verbose_name": "Google account",
                "verbose_name_plural": "Google accounts",
                "db_table": "sticker_web_google_user",
                "indexes": [
                    apps.common.fields.LongNameIndex(
                        fields=["email"], name="idx_sticker_web_google_user_email"
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["owner_phone"], name="idx_sticker_web_google_user_owner_phone"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("owner_jid",), name="uq_sticker_web_google_user_owner_jid"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="GoogleSession",
            fields=[
                (
                    "session_token",
                    apps.common.fields.FixedCharField(
                        max_length=36, primary_key=True, serialize=False
                    ),
                ),
                (
                    "google_user",
                    models.ForeignKey(
                        db_column="google_sub",
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sessions",
                        to="whatsapp_auth.googleuser",
                    ),
                ),
                ("owner_jid", apps.common.fields.CharField(max_length=120)),
                ("owner_phone", apps.common.fields.CharField(blank=True, max_length=20, null=True)),
                ("email", apps.common.fields.CharField(blank=True, max_length=255, null=True)),
                ("name", apps.common.fields.CharField(blank=True, max_length=120, null=True)),
                (
                    "picture_url",
                    apps.common.fields.CharField(blank=True, max_length=1024, null=True),
                ),
                ("expires_at", apps.common.fields.TimestampField()),
                ("revoked_at", apps.common.fields.TimestampField(blank=True, null=True)),
                (
                    "created_at",
                    apps.common.fields.TimestampField(
                        blank=True,
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                        null=True,
                    ),
                ),
                (
                    "updated_at",
                    apps.common.fields.TimestampField(
                        blank=True,
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                        null=True,
                        on_update=True,
                    ),
                ),
                ("last_seen_at", apps.common.fields.TimestampField(blank=True, null=True)),
            ],
            options={
                "verbose_name": "web session",
                "verbose_name_plural": "web sessions",
                "db_table": "sticker_web_google_session",
                "indexes": [
                    apps.common.fields.LongNameIndex(
                        fields=["expires_at"], name="idx_sticker_web_google_session_expires_at"
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["google_user"], name="idx_sticker_web_google_session_google_sub"
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["owner_jid"], name="idx_sticker_web_google_session_owner_jid"
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["owner_phone"], name="idx_sticker_web_google_session_owner_phone"
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["revoked_at", "expires_at"],
                        name="idx_sticker_web_google_session_revoked_expires",
                    ),
                ],
                "constraints": [
                    apps.common.fields.ForeignKeyConstraint(
                        column="google_sub",
                        name="fk_sticker_web_google_session_user",
                        on_delete="CASCADE",
                        references="sticker_web_google_user.google_sub",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Ban",
            fields=[
                (
                    "id",
                    apps.common.fields.FixedCharField(
                        default=apps.common.fields.new_id,
                        max_length=36,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("google_sub", apps.common.fields.CharField(blank=True, max_length=80, null=True)),
                ("email", apps.common.fields.CharField(blank=True, max_length=255, null=True)),
                ("owner_jid", apps.common.fields.CharField(blank=True, max_length=255, null=True)),
                ("reason", apps.common.fields.CharField(blank=True, max_length=255, null=True)),
                (
                    "created_by_google_sub",
                    apps.common.fields.CharField(blank=True, max_length=80, null=True),
                ),
                (
                    "created_by_email",
                    apps.common.fields.CharField(blank=True, max_length=255, null=True),
                ),
                ("revoked_at", apps.common.fields.TimestampField(blank=True, null=True)),
                (
                    "created_at",
                    apps.common.fields.TimestampField(
                        blank=True,
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                        null=True,
                    ),
                ),
                (
                    "updated_at",
                    apps.common.fields.TimestampField(
                        blank=True,
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                        null=True,
                        on_update=True,
                    ),
                ),
            ],
            options={
                "verbose_name": "ban",
                "verbose_name_plural": "bans",
                "db_table": "sticker_web_admin_ban",
                "indexes": [
                    apps.common.fields.LongNameIndex(
                        fields=["email", "revoked_at", "created_at"],
                        name="idx_sticker_web_admin_ban_email",
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["google_sub", "revoked_at", "created_at"],
                        name="idx_sticker_web_admin_ban_google_sub",
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["owner_jid", "revoked_at", "created_at"],
                        name="idx_sticker_web_admin_ban_owner_jid",
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["revoked_at", "created_at"],
                        name="idx_sticker_web_admin_ban_revoked_created",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("google_sub__isnull", False),
                            ("email__isnull", False),
                            ("owner_jid__isnull", False),
                            _connector="OR",
                        ),
                        name="chk_sticker_web_admin_ban_identity",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Moderator",
            fields=[
                (
                    "google_sub",
                    apps.common.fields.CharField(max_length=80, primary_key=True, serialize=False),
                ),
                ("owner_jid", apps.common.fields.CharField(max_length=255)),
                ("email", apps.common.fields.CharField(max_length=255)),
                ("name", apps.common.fields.CharField(blank=True, max_length=120, null=True)),
                ("password_hash", apps.common.fields.CharField(max_length=255)),
                (
                    "created_by_google_sub",
                    apps.common.fields.CharField(blank=True, max_length=80, null=True),
                ),
                (
                    "created_by_email",
                    apps.common.fields.CharField(blank=True, max_length=255, null=True),
                ),
                (
                    "updated_by_google_sub",
                    apps.common.fields.CharField(blank=True, max_length=80, null=True),
                ),
                (
                    "updated_by_email",
                    apps.common.fields.CharField(blank=True, max_length=255, null=True),
                ),
                ("last_login_at", apps.common.fields.TimestampField(blank=True, null=True)),
                ("revoked_at", apps.common.fields.TimestampField(blank=True, null=True)),
                (
                    "created_at",
                    apps.common.fields.TimestampField(
                        blank=True,
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                        null=True,
                    ),
                ),
                (
                    "updated_at",
                    apps.common.fields.TimestampField(
                        blank=True,
                        db_default=apps.common.fields.CurrentTimestamp(),
                        default=apps.common.fields.now_seconds,
                        null=True,
                        on_update=True,
                    ),
                ),
            ],
            options={
                "verbose_name": "moderator",
                "verbose_name_plural": "moderators",
                "db_table": "sticker_web_admin_moderator",
                "indexes": [
                    apps.common.fields.LongNameIndex(
                        fields=["email"], name="idx_sticker_web_admin_moderator_email"
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["owner_jid"], name="idx_sticker_web_admin_moderator_owner_jid"
                    ),
                    apps.common.fields.LongNameIndex(
                        fields=["revoked_at", "updated_at"],
                        name="idx_sticker_web_admin_moderator_revoked_updated",
                    ),
                ],
            },
        ),
    ]
