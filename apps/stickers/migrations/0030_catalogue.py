"""Tags, reports and decisions beside packs; extra indexes by which packs are found."""

from typing import Any

import django.db.models.deletion
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

import apps.common.fields

# Not part of the models: `adopt_schema` adds the indexes that models name before this runs.
ADD_PUBLISHER_INDEX = "CREATE INDEX idx_sticker_pack_publisher ON sticker_pack (publisher)"
# The words of a pack; which index the search needs is the database's own matter.
ADD_SEARCH_INDEX = {
    "mysql": "CREATE FULLTEXT INDEX ft_sticker_pack_search"
    " ON sticker_pack (name, publisher, description)",
    "postgresql": "CREATE INDEX ft_sticker_pack_search ON sticker_pack USING gin (to_tsvector("
    "'simple'::regconfig, name || ' ' || publisher || ' ' || coalesce(description, '')))",
}
NAMES = ("idx_sticker_pack_publisher", "ft_sticker_pack_search")


def add_indexes(apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """SQLite searches without an index."""
    schema_editor.execute(ADD_PUBLISHER_INDEX)
    search = ADD_SEARCH_INDEX.get(schema_editor.connection.vendor)
    if search:
        schema_editor.execute(search)


def drop_indexes(apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Take them away again."""
    vendor = schema_editor.connection.vendor
    for name in NAMES if vendor in ADD_SEARCH_INDEX else NAMES[:1]:
        table = " ON sticker_pack" if vendor == "mysql" else ""
        schema_editor.execute(f"DROP INDEX {name}{table}")


class Migration(migrations.Migration):
    dependencies = [
        ("stickers", "0021_curation"),
    ]

    operations = [
        migrations.CreateModel(
            name="ModerationDecision",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("open", "waiting"),
                            ("dismissed", "nothing wrong"),
                            ("hidden", "pack hidden"),
                            ("sensitive", "marked sensitive"),
                            ("removed", "pack removed"),
                            ("restored", "shown again"),
                        ],
                        max_length=16,
                        verbose_name="outcome",
                    ),
                ),
                ("reason", models.CharField(max_length=255, verbose_name="why")),
                (
                    "report_count",
                    models.PositiveIntegerField(default=0, verbose_name="reports answered"),
                ),
                ("moderator", models.CharField(max_length=150, verbose_name="moderator")),
                ("decided_at", models.DateTimeField(verbose_name="decided at")),
            ],
            options={
                "verbose_name": "moderation decision",
                "verbose_name_plural": "moderation decisions",
                "db_table": "stickers_moderation_decision",
            },
        ),
        migrations.CreateModel(
            name="PackModeration",
            fields=[
                (
                    "pack",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="moderation",
                        serialize=False,
                        to="stickers.stickerpack",
                    ),
                ),
                ("is_hidden", models.BooleanField(default=False, verbose_name="hidden")),
                (
                    "is_sensitive",
                    models.BooleanField(default=False, verbose_name="marked sensitive"),
                ),
            ],
            options={
                "verbose_name": "moderation state",
                "verbose_name_plural": "moderation states",
                "db_table": "stickers_pack_moderation",
                "permissions": [("moderate_pack", "Can decide about reported packs")],
            },
        ),
        migrations.CreateModel(
            name="PackReport",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("actor_key", apps.common.fields.CharField(max_length=120)),
                (
                    "open_key",
                    apps.common.fields.CharField(
                        editable=False, max_length=160, null=True, unique=True
                    ),
                ),
                (
                    "reason",
                    models.CharField(
                        choices=[
                            ("sensitive", "sexual or violent content"),
                            ("hate", "hate or harassment"),
                            ("minors", "harms a minor"),
                            ("copyright", "somebody else's work"),
                            ("spam", "spam or misleading"),
                            ("other", "something else"),
                        ],
                        max_length=16,
                        verbose_name="reason",
                    ),
                ),
                (
                    "text",
                    models.CharField(blank=True, max_length=500, verbose_name="what is wrong"),
                ),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("open", "waiting"),
                            ("dismissed", "nothing wrong"),
                            ("hidden", "pack hidden"),
                            ("sensitive", "marked sensitive"),
                            ("removed", "pack removed"),
                            ("restored", "shown again"),
                        ],
                        default="open",
                        max_length=16,
                        verbose_name="outcome",
                    ),
                ),
                ("created_at", models.DateTimeField(verbose_name="reported at")),
                (
                    "decided_at",
                    models.DateTimeField(blank=True, null=True, verbose_name="decided at"),
                ),
            ],
            options={
                "verbose_name": "report",
                "verbose_name_plural": "reports",
                "db_table": "stickers_pack_report",
            },
        ),
        migrations.CreateModel(
            name="PackTag",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("tag", apps.common.fields.CharField(max_length=64)),
            ],
            options={
                "verbose_name": "pack tag",
                "verbose_name_plural": "pack tags",
                "db_table": "stickers_pack_tag",
            },
        ),
        migrations.AddField(
            model_name="moderationdecision",
            name="pack",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="decisions",
                to="stickers.stickerpack",
            ),
        ),
        migrations.AddField(
            model_name="packreport",
            name="pack",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="reports",
                to="stickers.stickerpack",
            ),
        ),
        migrations.AddField(
            model_name="packtag",
            name="pack",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="tag_rows",
                to="stickers.stickerpack",
            ),
        ),
        migrations.AddIndex(
            model_name="moderationdecision",
            index=models.Index(fields=["pack", "decided_at"], name="idx_stickers_decision_pack"),
        ),
        migrations.AddIndex(
            model_name="packreport",
            index=models.Index(fields=["outcome", "created_at"], name="idx_stickers_report_queue"),
        ),
        migrations.AddConstraint(
            model_name="packtag",
            constraint=models.UniqueConstraint(fields=("tag", "pack"), name="uq_stickers_pack_tag"),
        ),
        # MySQL commits at each DDL statement, and so refuses one inside a transaction.
        migrations.RunPython(add_indexes, drop_indexes, atomic=False),
    ]
