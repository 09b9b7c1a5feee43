"""Taking over the database of an existing OmniZap installation, with not a row lost.

Compares the mirrored tables that are there with what the initial migrations would have made. What
is missing (tables, indexes, constraints) can be added; a column that differs cannot be mended
without touching rows, so it stops the adoption. MySQL and MariaDB only.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from django.apps import apps
from django.db import connection, models

MIRRORED_MODELS = (
    "flags.FeatureFlag",
    "outbox.OutboxEvent",
    "outbox.OutboxDeadLetter",
    "whatsapp_auth.LidMapping",
    "whatsapp_auth.GoogleUser",
    "whatsapp_auth.GoogleSession",
    "whatsapp_auth.Ban",
    "whatsapp_auth.Moderator",
    "stickers.StickerAsset",
    "stickers.AssetClassification",
    "stickers.StickerPack",
    "stickers.StickerPackItem",
    "stickers.PackWebUpload",
    "stickers.PackEngagement",
    "stickers.InteractionEvent",
    "stickers.PackScoreSnapshot",
    "stickers.ReprocessTask",
    "stickers.WorkerTask",
    "stickers.WorkerTaskDeadLetter",
    "stickers.ThemeCluster",
    "stickers.ThemeSuggestion",
)
# The names under which information_schema shows types that are declared otherwise.
SHOWN_TYPES = {"bool": "tinyint", "json": "longtext", "integer unsigned": "int unsigned"}


@dataclass(frozen=True, slots=True)
class AdoptionPlan:
    """What adoption would add, and what forbids it."""

    missing_tables: tuple[type[models.Model], ...] = ()
    missing_indexes: tuple[tuple[type[models.Model], models.Index], ...] = ()
    missing_constraints: tuple[tuple[type[models.Model], models.BaseConstraint], ...] = ()
    differences: tuple[str, ...] = field(default=())


def plan_adoption() -> AdoptionPlan:
    """Look at the database and change nothing."""
    mirrored = [apps.get_model(name) for name in MIRRORED_MODELS]
    with connection.cursor() as cursor:
        present = set(connection.introspection.table_names(cursor))
    tables = [model for model in mirrored if model._meta.db_table in present]
    return AdoptionPlan(
        missing_tables=tuple(model for model in mirrored if model not in tables),
        missing_indexes=tuple(pair for model in tables for pair in _missing_indexes(model)),
        missing_constraints=tuple(pair for model in tables for pair in _missing_constraints(model)),
        differences=tuple(line for model in tables for line in _column_differences(model)),
    )


def adopt(plan: AdoptionPlan) -> None:
    """Add what is missing; rows that are there are not touched."""
    with connection.schema_editor() as editor:
        for model in plan.missing_tables:
            editor.create_model(model)
        for model, index in plan.missing_indexes:
            editor.add_index(model, index)
        for model, constraint in plan.missing_constraints:
            editor.add_constraint(model, constraint)


def _missing_indexes(
    model: type[models.Model],
) -> Iterator[tuple[type[models.Model], models.Index]]:
    names = _constraint_names(model)
    yield from ((model, index) for index in model._meta.indexes if index.name not in names)


def _missing_constraints(
    model: type[models.Model],
) -> Iterator[tuple[type[models.Model], models.BaseConstraint]]:
    names = _constraint_names(model)
    yield from ((model, item) for item in model._meta.constraints if item.name not in names)


def _constraint_names(model: type[models.Model]) -> set[str]:
    with connection.cursor() as cursor:
        return set(connection.introspection.get_constraints(cursor, model._meta.db_table))


def _column_differences(model: type[models.Model]) -> Iterator[str]:
    table = model._meta.db_table
    found = _column_types(table)
    for column in model._meta.local_fields:
        wanted = _normalised(str(column.db_parameters(connection)["type"]))
        if column.column not in found:
            yield f"{table}.{column.column} is missing"
        elif _normalised(found[column.column]) != wanted:
            yield f"{table}.{column.column} is {found[column.column]}, not {wanted}"


def _column_types(table: str) -> dict[str, str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT column_name, column_type FROM information_schema.columns"
            " WHERE table_schema = DATABASE() AND table_name = %s",
            [table],
        )
        return dict(cursor.fetchall())


def _normalised(column_type: str) -> str:
    """One spelling for a type, whether declared by a model or shown by the server."""
    text = column_type.lower().replace(", ", ",").removesuffix(" auto_increment")
    text = re.sub(r"\b(tiny|small|big)?int\(\d+\)", lambda match: f"{match[1] or ''}int", text)
    text = text.replace("numeric(", "decimal(")
    return SHOWN_TYPES.get(text, text)
