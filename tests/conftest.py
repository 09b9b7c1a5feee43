"""What all tests share: the database they run on, and a settled environment."""

import os

import pytest

# Settings are read when Django starts, before any fixture; tests never depend on a developer's .env.
os.environ.setdefault("SECRET_KEY", "test-key")
os.environ.setdefault("DEBUG", "false")
os.environ.setdefault("SECURE_HTTPS", "false")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what this database cannot show; the run on MariaDB shows it."""
    from django.db import connection

    if connection.vendor == "mysql":
        return
    reason = pytest.mark.skip(reason="shown on MariaDB, which the same command also runs")
    for item in items:
        if "mysql" in item.keywords:
            item.add_marker(reason)
