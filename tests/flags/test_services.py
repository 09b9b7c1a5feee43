"""Every change of a flag is locked, logged, told and can be taken back."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, date, datetime, timedelta

import pytest
from django.apps import apps
from django.db import connection

from apps.flags import errors, queries
from apps.flags.choices import ChangeAction, StepStatus
from apps.flags.evaluation import Reason
from apps.flags.models import FeatureFlag, FlagChange, FlagRule, FlagUsage, RolloutStep
from apps.flags.services import (
    WebUsage,
    abort_rollout,
    apply_due_steps,
    delete_flag,
    evaluate,
    flag_cache,
    is_enabled,
    kill_flags,
    pause_rollout,
    plan_rollout,
    record_usage,
    resume_rollout,
    revert_change,
    revive_flags,
    set_flag,
    set_rule,
)
from apps.flags.testing import override_flag
from apps.outbox.models import OutboxEvent
from tests.flags.conftest import seeding

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def flag() -> FeatureFlag:
    """A flag that is on for everybody, known to this process."""
    made = set_flag("checkout", actor="ana", is_enabled=True, rollout_percent=100)
    flag_cache.refresh(force=True)
    return made


def ask(subject: str = "") -> tuple[bool, Reason]:
    flag_cache.refresh(force=True)
    found = evaluate("checkout", subject_key=subject)
    return found.value, found.reason


@pytest.mark.usefixtures("seeded_flags")
def test_seeding_again_keeps_what_an_operator_set() -> None:
    set_flag("enable_domain_event_outbox", actor="ana", is_enabled=False, rollout_percent=7)
    FeatureFlag.objects.update(description="changed")
    seeding.seed_flags(apps, None)
    flag = FeatureFlag.objects.get(flag_name="enable_domain_event_outbox")
    assert (flag.is_enabled, flag.rollout_percent) == (False, 7)
    assert flag.description != "changed"


@pytest.mark.usefixtures("seeded_flags")
def test_the_four_seeded_flags_are_there() -> None:
    seeded = dict(FeatureFlag.objects.values_list("flag_name", "is_enabled"))
    assert seeded["enable_ranking_snapshot_read"]
    assert seeded["enable_domain_event_outbox"]
    assert not seeded["enable_worker_dedicated_processes"]
    assert not seeded["enable_object_storage_delivery"]


def test_a_change_is_logged_with_before_and_after_and_published() -> None:
    set_flag("checkout", actor="rui", rollout_percent=25, reason="slowly")
    change = FlagChange.objects.latest("pk")
    assert (change.actor, change.reason) == ("rui", "slowly")
    assert change.before["rollout_percent"] == 100  # type: ignore[index]
    assert change.after["rollout_percent"] == 25  # type: ignore[index]
    event = OutboxEvent.objects.filter(event_type="FLAG_CHANGED").latest("pk")
    assert event.payload["after"]["rollout_percent"] == 25  # type: ignore[index]


def test_a_change_is_reverted_from_the_log() -> None:
    set_flag("checkout", actor="rui", rollout_percent=25)
    revert_change(FlagChange.objects.latest("pk").pk, actor="ana", reason="too slow")
    assert FeatureFlag.objects.get(flag_name="checkout").rollout_percent == 100
    with pytest.raises(errors.ChangeNotRevertible):
        revert_change(FlagChange.objects.earliest("pk").pk, actor="ana", reason="x")


def test_the_kill_switch_wins_over_everything_and_is_taken_back() -> None:
    set_rule("checkout", actor="ana", allowed=["vip"])
    assert kill_flags(["checkout"], actor="ana", reason="burning") == 1
    assert kill_flags(["checkout"], actor="ana", reason="burning") == 0
    assert ask("vip") == (False, Reason.KILLED)
    assert revive_flags(["checkout"], actor="ana", reason="mended") == 1
    assert ask("vip") == (True, Reason.ALLOWED)


def test_listed_subjects_are_decided_before_the_percentage() -> None:
    set_flag("checkout", actor="ana", rollout_percent=0)
    set_rule("checkout", actor="ana", allowed=["vip"], denied=["spy"])
    assert ask("vip") == (True, Reason.ALLOWED)
    set_flag("checkout", actor="ana", rollout_percent=100)
    assert ask("spy") == (False, Reason.DENIED)


def test_prerequisites_must_be_on_and_never_go_in_a_circle() -> None:
    set_flag("base", actor="ana", is_enabled=False)
    set_rule("checkout", actor="ana", prerequisites=["base"])
    assert ask() == (False, Reason.PREREQUISITE)
    with pytest.raises(errors.PrerequisiteCycle):
        set_rule("base", actor="ana", prerequisites=["checkout"])


def test_prerequisites_are_found_however_their_names_are_typed() -> None:
    set_flag("base", actor="ana")
    set_rule("checkout", actor="ana", prerequisites=[" BASE "])
    assert FlagRule.objects.get(flag_name="checkout").prerequisites == ["base"]


def test_a_fine_share_is_stored_exactly_and_holds_for_many_subjects() -> None:
    set_rule("checkout", actor="ana", rollout_units=50, salt="s")  # 0.05 %
    flag_cache.refresh(force=True)
    hits = sum(is_enabled("checkout", subject_key=str(number)) for number in range(200_000))
    assert 70 <= hits <= 130


def test_raising_a_fine_share_only_adds_of_a_hundred_thousand_subjects() -> None:
    chosen: set[int] = set()
    for units in (100, 1_000, 33_333, 100_000):
        set_rule("checkout", actor="ana", rollout_units=units)
        flag_cache.refresh(force=True)
        now_in = {n for n in range(100_000) if is_enabled("checkout", subject_key=str(n))}
        assert chosen <= now_in
        chosen = now_in
    assert len(chosen) == 100_000


def test_steps_are_applied_once_and_in_order_also_after_an_outage() -> None:
    steps = [(NOW + HOUR, 5), (NOW + 2 * HOUR, 25), (NOW + 3 * HOUR, 100)]
    plan_rollout("checkout", steps, actor="ana", now=NOW)
    assert apply_due_steps(now=NOW) == 0
    assert apply_due_steps(now=NOW + 2.5 * HOUR) == 2
    assert apply_due_steps(now=NOW + 2.5 * HOUR) == 0
    assert FeatureFlag.objects.get(flag_name="checkout").rollout_percent == 25
    applied = FlagChange.objects.filter(action="stepped").order_by("pk")
    assert [c.after["rollout_percent"] for c in applied] == [5, 25]  # type: ignore[index]


@pytest.mark.django_db(transaction=True)
def test_workers_that_wake_together_apply_each_step_once() -> None:
    steps = [(NOW + HOUR * number, 10 * number) for number in range(1, 6)]
    plan_rollout("checkout", steps, actor="ana", now=NOW)
    barrier = threading.Barrier(4)

    def apply(_worker: int) -> int:
        barrier.wait()
        try:
            return apply_due_steps(now=NOW + 6 * HOUR)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(apply, range(4))) == 5
    log = FlagChange.objects.filter(action=ChangeAction.STEPPED).order_by("pk")
    assert [change.after["rollout_percent"] for change in log] == [10, 20, 30, 40, 50]


def test_a_paused_rollout_waits_and_an_aborted_one_stays() -> None:
    plan_rollout("checkout", [(NOW + HOUR, 5)], actor="ana", now=NOW)
    pause_rollout("checkout", actor="rui")
    assert apply_due_steps(now=NOW + 2 * HOUR) == 0
    resume_rollout("checkout", actor="eva")
    assert abort_rollout("checkout", actor="ana") == 1
    assert apply_due_steps(now=NOW + 2 * HOUR) == 0
    assert RolloutStep.objects.get().status == StepStatus.ABORTED
    assert abort_rollout("checkout", actor="ana") == 0
    log = FlagChange.objects.order_by("pk").values_list("action", "actor")[1:]
    assert list(log) == [
        ("planned", "ana"),
        ("paused", "rui"),
        ("resumed", "eva"),
        ("aborted", "ana"),
    ]


def test_a_deleted_flag_takes_its_rule_and_its_plan_along_and_both_come_back() -> None:
    set_rule("checkout", actor="ana", denied=["spy"])
    plan_rollout("checkout", [(NOW + HOUR, 5)], actor="ana", now=NOW)
    delete_flag("checkout", actor="ana")
    assert not FlagRule.objects.exists()
    assert RolloutStep.objects.get().status == StepStatus.ABORTED
    set_flag("checkout", actor="rui", is_enabled=True)
    assert ask("spy")[1] != Reason.DENIED
    gone = FlagChange.objects.filter(action=ChangeAction.DELETED, before__has_key="denied").get()
    revert_change(gone.pk, actor="rui", reason="")
    assert FlagRule.objects.get().denied == ["spy"]


def test_a_new_plan_replaces_the_pending_one() -> None:
    plan_rollout("checkout", [(NOW + HOUR, 5)], actor="ana", now=NOW)
    plan_rollout("checkout", [(NOW + 2 * HOUR, 50)], actor="rui", now=NOW)
    pending = RolloutStep.objects.filter(status=StepStatus.PENDING)
    assert [step.rollout_percent for step in pending] == [50]


@pytest.mark.parametrize("offsets", [[-1], [2, 1], [0], []])
def test_steps_in_the_past_or_out_of_order_are_refused(offsets: list[int]) -> None:
    steps = [(NOW + offset * HOUR, 5) for offset in offsets]
    with pytest.raises(errors.StepsNotOrdered):
        plan_rollout("checkout", steps, actor="ana", now=NOW)


def test_bad_values_are_refused() -> None:
    with pytest.raises(errors.InvalidPercent):
        set_flag("checkout", actor="ana", rollout_percent=101)
    with pytest.raises(errors.InvalidFlagName):
        set_flag("***", actor="ana")
    with pytest.raises(errors.InvalidUnits):
        set_rule("checkout", actor="ana", rollout_units=100_001)
    with pytest.raises(errors.FlagNotFound):
        delete_flag("nowhere", actor="ana")


def test_stale_flags_are_named_with_their_reason() -> None:
    FeatureFlag.objects.filter(flag_name="checkout").update(updated_at=NOW - timedelta(days=40))
    rows = queries.stale_flags(now=NOW, unchanged_for=timedelta(days=30))
    assert ("checkout", "settled") in [(row.flag_name, row.reason) for row in rows]
    set_rule("checkout", actor="ana", expires_on=date(2026, 2, 1), owner="ana")
    rows = queries.stale_flags(now=NOW, unchanged_for=timedelta(days=30))
    assert [(r.reason, r.owner) for r in rows if r.flag_name == "checkout"] == [("expired", "ana")]


def test_flags_that_were_asked_for_are_noted() -> None:
    is_enabled("checkout")
    assert record_usage(today=NOW.date()) >= 1
    is_stale = queries.stale_flags(now=NOW + timedelta(days=99), unchanged_for=timedelta(days=30))
    assert "checkout" in [row.flag_name for row in is_stale]


def test_web_processes_note_what_they_were_asked_for_once_a_minute() -> None:
    web_usage = WebUsage()
    is_enabled("checkout")
    web_usage.after_request(signal=None)
    assert FlagUsage.objects.filter(flag_name="checkout").exists()
    FlagUsage.objects.all().delete()
    is_enabled("checkout")
    web_usage.after_request(signal=None)
    assert not FlagUsage.objects.exists()


def test_an_override_is_seen_at_once_nested_and_undone_by_an_exception() -> None:
    def fails_inside() -> None:
        with override_flag("checkout", is_enabled=False):
            assert not is_enabled("checkout")
            with override_flag("checkout"):
                assert is_enabled("checkout")
            assert not is_enabled("checkout")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails_inside()
    assert is_enabled("checkout")


def test_an_override_of_an_unknown_flag_is_forgotten() -> None:
    with override_flag("unheard_of"):
        assert is_enabled("unheard_of")
    assert not is_enabled("unheard_of")


@pytest.mark.django_db(transaction=True)
def test_w3_a_missing_table_neither_breaks_nor_latches() -> None:
    with connection.schema_editor() as editor:
        editor.execute("ALTER TABLE feature_flag RENAME TO feature_flag_away")
    try:
        flag_cache.refresh(force=True)
        assert is_enabled("checkout")
    finally:
        with connection.schema_editor() as editor:
            editor.execute("ALTER TABLE feature_flag_away RENAME TO feature_flag")
    set_flag("checkout", actor="ana", is_enabled=False)
    flag_cache.refresh(force=True)
    assert not is_enabled("checkout")


@pytest.mark.mysql
@pytest.mark.django_db(transaction=True)
def test_a_connection_that_the_server_broke_is_given_up_outside_of_requests_too() -> None:
    connection.ensure_connection()
    broken = connection.connection.thread_id()
    set_flag("checkout", actor="ana", is_enabled=False)
    with closing(connection.copy()) as other, other.cursor() as cursor:
        cursor.execute(f"KILL {broken}")
    flag_cache.refresh(force=True)
    flag_cache.refresh(force=True)
    assert not is_enabled("checkout")


@pytest.mark.django_db(transaction=True)
def test_two_who_create_a_flag_at_once_both_succeed() -> None:
    barrier = threading.Barrier(2)

    def create(percent: int) -> None:
        barrier.wait()
        try:
            set_flag("both", actor="ana", rollout_percent=percent)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(create, [10, 20]))
    actions = FlagChange.objects.filter(flag_name="both").order_by("pk")
    assert [change.action for change in actions] == ["created", "changed"]


@pytest.mark.django_db(transaction=True)
def test_two_rules_at_once_do_not_close_a_circle() -> None:
    set_flag("base", actor="ana")
    barrier = threading.Barrier(2)

    def require(pair: tuple[str, str]) -> bool:
        barrier.wait()
        try:
            set_rule(pair[0], actor="ana", prerequisites=[pair[1]])
        except errors.PrerequisiteCycle:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(require, [("base", "checkout"), ("checkout", "base")]))
    assert sorted(done) == [False, True]
