"""The seeded flags, which tests that flush the database take away."""

from importlib import import_module

import pytest
from django.apps import apps

seeding = import_module("apps.flags.migrations.0002_seed_flags")


@pytest.fixture
def seeded_flags(db: None) -> None:
    """Run the migration's function; it only adds what is missing, and needs no schema editor."""
    seeding.seed_flags(apps, None)
