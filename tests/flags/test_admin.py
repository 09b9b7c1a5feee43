"""The rollout desk in the admin."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from apps.flags.charts import step_line
from apps.flags.models import FeatureFlag, FlagChange, FlagRule
from apps.flags.services import evaluate, flag_cache, set_flag

pytestmark = pytest.mark.django_db

LIST = "/admin/flags/featureflag/"


@pytest.fixture
def flag() -> FeatureFlag:
    made = set_flag("checkout", actor="ana", is_enabled=True, rollout_percent=10)
    flag_cache.refresh(force=True)
    return made


@pytest.fixture
def staff(client: Client, owner: User) -> Client:
    client.force_login(owner)
    return client


def page(flag: FeatureFlag) -> str:
    return f"{LIST}{flag.pk}/change/"


def row(**values: Any) -> dict[str, Any]:
    return {"description": "", "is_enabled": "on", "rollout_percent": 10, "reason": ""} | values


def test_a_change_notes_who_and_why_and_warns_of_a_jump(staff: Client, flag: FeatureFlag) -> None:
    answer = staff.post(page(flag), row(rollout_percent=80, reason="launch"), follow=True)
    assert "watch it closely" in answer.content.decode()
    flag.refresh_from_db()
    assert (flag.rollout_percent, flag.updated_by) == (80, "owner")
    assert FlagChange.objects.latest("pk").reason == "launch"


def test_a_small_step_is_no_risk(staff: Client, flag: FeatureFlag) -> None:
    answer = staff.post(page(flag), row(rollout_percent=20), follow=True)
    assert "watch it closely" not in answer.content.decode()


def test_the_preview_counts_subjects(staff: Client, flag: FeatureFlag) -> None:
    answer = staff.get(f"{LIST}{flag.pk}/preview/?percent=50").json()
    assert answer["of"] == 10_000
    assert 4800 < answer["count"] < 5200


def test_a_subject_is_tested_and_the_reason_shown(staff: Client, flag: FeatureFlag) -> None:
    shown = staff.get(f"{page(flag)}?subject=abc").content.decode()
    found = evaluate("checkout", subject_key="abc")
    assert "SPLIT" in shown
    assert f"bucket {found.bucket}" in shown


def test_killing_asks_for_a_reason_first(staff: Client, flag: FeatureFlag) -> None:
    wish = {"action": "kill", "_selected_action": [flag.pk]}
    asked = staff.post(LIST, wish)
    assert "Kill these flags?" in asked.content.decode()
    assert not FlagRule.objects.filter(is_killed=True).exists()
    staff.post(LIST, wish | {"confirmed": "1", "reason": "burning"})
    assert FlagRule.objects.get().is_killed
    assert FlagChange.objects.latest("pk").reason == "burning"


def test_a_viewer_sees_but_does_not_change(client: Client, flag: FeatureFlag) -> None:
    viewer = User.objects.create_user("vera", password="x", is_staff=True)
    viewer.groups.add(Group.objects.get(name="viewer"))
    client.force_login(viewer)
    assert client.get(page(flag)).status_code == 200
    assert client.post(page(flag), row(rollout_percent=80)).status_code == 403


def test_a_list_takes_the_same_queries_for_one_flag_and_for_fifty(
    staff: Client, flag: FeatureFlag, django_assert_max_num_queries: Any
) -> None:
    for number in range(50):
        set_flag(f"f{number}", actor="ana")
    with django_assert_max_num_queries(10):
        staff.get(LIST)


def test_stale_flags_are_found_by_a_filter(staff: Client, flag: FeatureFlag) -> None:
    old = datetime(2020, 1, 1, tzinfo=UTC)
    FeatureFlag.objects.filter(flag_name="checkout").update(updated_at=old, rollout_percent=100)
    shown = staff.get(f"{LIST}?stale=yes").content.decode()
    assert "checkout" in shown
    assert "enable_domain_event_outbox" not in shown


def test_a_history_is_drawn_from_its_first_to_its_last_change() -> None:
    first = datetime(2026, 3, 1, tzinfo=UTC)
    line = step_line(
        [(first, 0), (first + timedelta(days=1), 50), (first + timedelta(days=2), 100)]
    )
    assert line is not None
    assert line.points.startswith("0,120")
    assert line.points.endswith("600,0")
    assert step_line([]) is None


RULES = "/admin/flags/flagrule/"


def test_a_rule_is_written_one_entry_a_line(staff: Client, flag: FeatureFlag) -> None:
    set_flag("base", actor="ana")
    lines = {"flag_name": "checkout", "allowed": "vip\ntester", "prerequisites": " BASE "}
    assert staff.post(f"{RULES}add/", lines, follow=True).status_code == 200
    rule = FlagRule.objects.get(flag_name="checkout")
    assert (rule.allowed, rule.prerequisites) == (["vip", "tester"], ["base"])
    assert FlagChange.objects.latest("pk").actor == "owner"
    shown = staff.get(f"{RULES}{rule.pk}/change/").content.decode()
    assert "vip\ntester</textarea>" in shown


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ({"flag_name": "checkout", "prerequisites": "checkout"}, "go round in a circle"),
        ({"flag_name": "nowhere"}, "There is no such flag"),
        ({"flag_name": "checkout", "prerequisites": "!!!"}, "needs letters"),
    ],
)
def test_a_rule_that_cannot_be_is_refused_with_the_reason(
    staff: Client, flag: FeatureFlag, typed: dict[str, str], told: str
) -> None:
    answer = staff.post(f"{RULES}add/", typed)
    assert answer.status_code == 200
    assert told in answer.content.decode()
    assert not FlagRule.objects.exists()
