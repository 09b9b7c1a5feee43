"""Machines of a deployment that all migrate at once (W7)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import ROOT
from tests.servers import PrivateMariaDB, private_mariadb

pytestmark = [
    pytest.mark.chaos,
    pytest.mark.mysql,
    pytest.mark.skipif(not PrivateMariaDB.is_available(), reason="needs MariaDB's programs"),
]


def test_w7_three_processes_migrate_one_empty_database(tmp_path: Path) -> None:
    with private_mariadb(tmp_path) as server:
        environment = os.environ | {
            "DATABASE_URL": server.url("pombo"),
            "DJANGO_SETTINGS_MODULE": "tests.settings",
        }
        command = [sys.executable, "manage.py", "migrate", "--verbosity=0"]
        processes = [subprocess.Popen(command, cwd=ROOT, env=environment) for _each in range(3)]
        assert [process.wait(240) for process in processes] == [0, 0, 0]
        applied = "SELECT COUNT(*), COUNT(DISTINCT app, name) FROM django_migrations"
        ((rows, migrations),) = server.query(applied, "pombo")
        assert rows == migrations > 0
