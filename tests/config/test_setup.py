"""Setting up: what is missing is made, what is there stays."""

import re
import stat
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django_q.models import Schedule

from config import envfile
from config.schedules import SCHEDULES, Periodic, sync_schedules


def test_the_env_file_is_private_and_completed_only_once(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text("SECRET_KEY=mine")
    assert "SECRET_KEY" not in envfile.complete(path, envfile.development_values())
    text = path.read_text()
    assert text.startswith("SECRET_KEY=mine\n")
    assert envfile.complete(path, envfile.development_values()) == []
    assert path.read_text() == text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_fresh_env_file_readable_by_nobody_else(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    assert "WHATSAPP_LOGIN_LINK_SECRET" in envfile.complete(path, envfile.development_values())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.django_db
def test_bootstrap_shows_the_password_once_and_can_be_repeated() -> None:
    first, second = StringIO(), StringIO()
    call_command("bootstrap", "--no-demo", stdout=first)
    match = re.search(r"password  (\S+)", first.getvalue())
    assert match
    assert User.objects.get(username="admin").check_password(match[1])
    call_command("bootstrap", "--no-demo", stdout=second)
    assert "password" not in second.getvalue()
    assert User.objects.count() == 1


@pytest.mark.django_db
def test_schedules_equal_the_list_after_syncing() -> None:
    Schedule.objects.create(name="left over", func="gone.task")
    call_command("sync_schedules", stdout=StringIO())
    assert set(Schedule.objects.values_list("name", flat=True)) == {p.name for p in SCHEDULES}
    assert sync_schedules() == 0


@pytest.mark.django_db
def test_a_changed_period_is_mended_and_the_next_run_kept() -> None:
    sync_schedules([Periodic("a", "x.y", 5)])
    next_run = Schedule.objects.get(name="a").next_run
    assert sync_schedules([Periodic("a", "x.y", 7)]) == 1
    row = Schedule.objects.get(name="a")
    assert (row.minutes, row.next_run, row.repeats) == (7, next_run, -1)
