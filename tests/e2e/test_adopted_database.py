"""A database that upstream made is adopted by the two documented commands, with its rows."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

ROOT = Path(__file__).parents[2]
REFERENCE = json.loads((ROOT / "tests/data/omnizap_schema.json").read_text())
DATABASE = "pombo_adopted"

pytestmark = [pytest.mark.chaos, pytest.mark.mysql, pytest.mark.django_db(transaction=True)]


def _column(name: str, column: dict[str, Any], checks: dict[str, str]) -> str:
    parts = [f"`{name}` {column['type']}"]
    if column["collation"] == "utf8mb4_bin":
        parts.append("CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
    parts.append("NULL" if column["null"] else "NOT NULL")
    if column["default"] not in (None, "NULL"):
        parts.append(f"DEFAULT {column['default']}")
    elif column["null"]:
        parts.append("DEFAULT NULL")
    parts.append(column["extra"])
    if name in checks:
        parts.append(f"CHECK ({checks[name]})")
    return " ".join(parts)


def _keys(table: dict[str, Any]) -> Iterator[str]:
    for name, index in table["indexes"].items():
        columns = ", ".join(f"`{column}`" for column in index["columns"])
        kind = "UNIQUE KEY" if index["unique"] else "KEY"
        yield f"PRIMARY KEY ({columns})" if name == "PRIMARY" else f"{kind} `{name}` ({columns})"
    for name, key in table["foreign_keys"].items():
        target, column = key["references"].split(".")
        yield (
            f"CONSTRAINT `{name}` FOREIGN KEY (`{key['column']}`)"
            f" REFERENCES `{target}` (`{column}`)"
            f" ON DELETE {key['on_delete']} ON UPDATE {key['on_update']}"
        )
    for name, clause in table["checks"].items():
        if name not in table["columns"]:
            yield f"CONSTRAINT `{name}` CHECK ({clause})"


def _create_table(name: str) -> str:
    table = REFERENCE[name]
    columns = [_column(key, column, table["checks"]) for key, column in table["columns"].items()]
    body = ", ".join([*columns, *_keys(table)])
    return (
        f"CREATE TABLE {DATABASE}.`{name}` ({body})"
        f" ENGINE={table['engine']} DEFAULT CHARSET=utf8mb4 COLLATE={table['collation']}"
    )


@pytest.fixture
def adopted_url() -> Iterator[str]:
    """A database as upstream's migrations leave it, with a flag that its operators set."""
    settings = connection.settings_dict
    with connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {DATABASE}")
        cursor.execute(f"CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4")
        cursor.execute("SET foreign_key_checks = 0")
        for name in REFERENCE:
            cursor.execute(_create_table(name))
        cursor.execute("SET foreign_key_checks = 1")
        cursor.execute(
            f"INSERT INTO {DATABASE}.feature_flag (flag_name, is_enabled, rollout_percent)"
            " VALUES ('enable_ranking_snapshot_read', 0, 35)"
        )
        password = f":{settings['PASSWORD']}" if settings["PASSWORD"] else ""
        host = f"{settings['HOST']}:{settings['PORT'] or 3306}"
        yield f"mysql://{settings['USER']}{password}@{host}/{DATABASE}"
        cursor.execute(f"DROP DATABASE {DATABASE}")


def _manage(url: str, *arguments: str) -> str:
    environment = os.environ | {"DATABASE_URL": url, "DEBUG": "true"}
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_upstream_database_is_adopted_with_its_rows(adopted_url: str) -> None:
    plan = json.loads(_manage(adopted_url, "adopt_schema", "--json"))
    assert plan["differences"] == plan["missing_tables"] == plan["missing_constraints"] == []
    _manage(adopted_url, "migrate", "--fake-initial", "-v0")
    _manage(adopted_url, "migrate", "--check")
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT is_enabled, rollout_percent FROM {DATABASE}.feature_flag"
            " WHERE flag_name = 'enable_ranking_snapshot_read'"
        )
        assert cursor.fetchone() == (0, 35)
