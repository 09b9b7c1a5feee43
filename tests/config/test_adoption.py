"""An OmniZap database is taken over with its rows, or left alone with a reason."""

import json
from collections.abc import Iterator
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from apps.flags.models import FeatureFlag
from config.adoption import plan_adoption

pytestmark = [pytest.mark.mysql, pytest.mark.django_db(transaction=True)]


def execute(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


@pytest.fixture
def omnizap_database() -> Iterator[None]:
    """The migrated schema as upstream leaves it: without our extra indexes and own tables."""
    execute(
        "DROP INDEX idx_domain_event_outbox_claim ON domain_event_outbox",
        "DROP INDEX idx_sticker_worker_task_claim ON sticker_worker_task_queue",
        "DROP INDEX idx_sticker_reprocess_claim ON sticker_asset_reprocess_queue",
        "INSERT INTO feature_flag (flag_name, rollout_percent) VALUES ('theirs', 35)",
    )
    yield
    call_command("adopt_schema", stdout=StringIO())


@pytest.mark.usefixtures("omnizap_database")
def test_the_plan_names_only_the_extra_indexes() -> None:
    out = StringIO()
    call_command("adopt_schema", "--dry-run", "--json", stdout=out)
    plan = json.loads(out.getvalue())
    assert plan["missing_indexes"] == [
        "idx_domain_event_outbox_claim",
        "idx_sticker_reprocess_claim",
        "idx_sticker_worker_task_claim",
    ]
    assert not plan["missing_tables"]
    assert not plan["missing_constraints"]
    assert not plan["differences"]


@pytest.mark.usefixtures("omnizap_database")
def test_adoption_adds_what_is_missing_and_keeps_every_row() -> None:
    call_command("adopt_schema", stdout=StringIO())
    assert not plan_adoption().missing_indexes
    assert FeatureFlag.objects.get(flag_name="theirs").rollout_percent == 35


@pytest.mark.usefixtures("omnizap_database")
def test_a_missing_table_is_created() -> None:
    execute("DROP TABLE domain_event_outbox_dlq")
    call_command("adopt_schema", stdout=StringIO())
    assert not plan_adoption().missing_tables


def test_a_column_that_differs_stops_the_adoption() -> None:
    execute("ALTER TABLE feature_flag MODIFY description VARCHAR(100) NULL")
    try:
        with pytest.raises(CommandError, match="Columns differ"):
            call_command("adopt_schema", stdout=StringIO())
    finally:
        execute("ALTER TABLE feature_flag MODIFY description VARCHAR(255) NULL")
