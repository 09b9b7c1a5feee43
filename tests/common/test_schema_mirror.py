"""The migrated MySQL/MariaDB schema equals the mirrored one, but for the listed extra indexes."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

REFERENCE = json.loads((Path(__file__).parent.parent / "data/omnizap_schema.json").read_text())
EXTRA_INDEXES = {
    "domain_event_outbox": {"idx_domain_event_outbox_claim"},
    "sticker_worker_task_queue": {"idx_sticker_worker_task_claim"},
    "sticker_asset_reprocess_queue": {"idx_sticker_reprocess_claim"},
    "sticker_pack": {
        "idx_sticker_pack_created",
        "idx_sticker_pack_publisher",
        "ft_sticker_pack_search",
    },
}

pytestmark = [pytest.mark.django_db, pytest.mark.mysql]


def _rows(sql: str, table: str) -> list[dict[str, Any]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, [table])
        names = [column[0].lower() for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _columns(table: str) -> dict[str, Any]:
    rows = _rows(
        "SELECT column_name, column_type, is_nullable, column_default, extra, collation_name"
        " FROM information_schema.columns"
        " WHERE table_schema = DATABASE() AND table_name = %s ORDER BY ordinal_position",
        table,
    )
    return {
        row["column_name"]: {
            "type": row["column_type"],
            "null": row["is_nullable"] == "YES",
            "default": None if row["column_default"] == "NULL" else row["column_default"],
            "extra": row["extra"],
            "collation": row["collation_name"],
        }
        for row in rows
    }


def _indexes(table: str) -> dict[str, Any]:
    rows = _rows(
        "SELECT index_name, non_unique, column_name FROM information_schema.statistics"
        " WHERE table_schema = DATABASE() AND table_name = %s ORDER BY index_name, seq_in_index",
        table,
    )
    indexes: dict[str, Any] = {}
    for row in rows:
        index = indexes.setdefault(
            row["index_name"], {"unique": not row["non_unique"], "columns": []}
        )
        index["columns"].append(row["column_name"])
    return indexes


def _foreign_keys(table: str) -> dict[str, Any]:
    rows = _rows(
        "SELECT k.constraint_name, k.column_name, k.referenced_table_name,"
        " k.referenced_column_name, r.update_rule, r.delete_rule"
        " FROM information_schema.key_column_usage k"
        " JOIN information_schema.referential_constraints r"
        " ON r.constraint_schema = k.constraint_schema AND r.table_name = k.table_name"
        " AND r.constraint_name = k.constraint_name"
        " WHERE k.table_schema = DATABASE() AND k.table_name = %s",
        table,
    )
    return {
        row["constraint_name"]: {
            "column": row["column_name"],
            "references": f"{row['referenced_table_name']}.{row['referenced_column_name']}",
            "on_update": row["update_rule"],
            "on_delete": row["delete_rule"],
        }
        for row in rows
    }


def _checks(table: str) -> dict[str, str]:
    rows = _rows(
        "SELECT constraint_name, check_clause FROM information_schema.check_constraints"
        " WHERE constraint_schema = DATABASE() AND table_name = %s",
        table,
    )
    return {row["constraint_name"]: row["check_clause"] for row in rows}


def _normalised(checks: dict[str, str]) -> dict[str, str]:
    return {
        name: clause.replace("(", "").replace(")", "").lower() for name, clause in checks.items()
    }


def _engine_and_collation(table: str) -> tuple[str, str]:
    (row,) = _rows(
        "SELECT engine, table_collation FROM information_schema.tables"
        " WHERE table_schema = DATABASE() AND table_name = %s",
        table,
    )
    return row["engine"], row["table_collation"]


@pytest.mark.parametrize("table", sorted(REFERENCE))
def test_columns_are_mirrored_in_order(table: str) -> None:
    actual, expected = _columns(table), REFERENCE[table]["columns"]
    for column in expected.values():
        column["default"] = None if column["default"] == "NULL" else column["default"]
    assert list(actual) == list(expected)
    assert actual == expected


@pytest.mark.parametrize("table", sorted(REFERENCE))
def test_indexes_are_mirrored_but_for_the_listed_extras(table: str) -> None:
    actual = _indexes(table)
    extra = {name for name in actual if name not in REFERENCE[table]["indexes"]}
    assert extra == EXTRA_INDEXES.get(table, set())
    assert {name: actual[name] for name in actual if name not in extra} == REFERENCE[table][
        "indexes"
    ]


@pytest.mark.parametrize("table", sorted(REFERENCE))
def test_foreign_keys_are_mirrored(table: str) -> None:
    assert _foreign_keys(table) == REFERENCE[table]["foreign_keys"]


@pytest.mark.parametrize("table", sorted(REFERENCE))
def test_checks_are_mirrored(table: str) -> None:
    assert _normalised(_checks(table)) == _normalised(REFERENCE[table]["checks"])


@pytest.mark.parametrize("table", sorted(REFERENCE))
def test_engine_and_collation_are_mirrored(table: str) -> None:
    reference = REFERENCE[table]
    assert _engine_and_collation(table) == (reference["engine"], reference["collation"])
