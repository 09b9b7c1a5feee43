"""Public bug reports of other flag systems, tried here (those that concern what Pombo has)."""

from types import SimpleNamespace

import pytest

from apps.flags.evaluation import UNIT_COUNT, FlagDefinition, TargetingRule, fine_bucket
from apps.flags.gates import subject_of
from apps.flags.services import evaluate, flag_cache, is_enabled, kill_flags, set_flag, set_rule
from apps.flags.testing import override_flag

pytestmark = pytest.mark.django_db


def test_hashes_with_the_top_bit_set_stay_within_the_range() -> None:
    """open-feature/flagd#1872: six clients, four formulas, negative buckets."""
    buckets = {fine_bucket(f"id-{number}", salt="s") for number in range(50_000)}
    assert min(buckets) >= 0
    assert max(buckets) < UNIT_COUNT
    assert max(buckets) > UNIT_COUNT * 0.99


@pytest.mark.parametrize(("units", "low", "high"), [(50, 70, 130), (0, 0, 0)])
def test_a_share_of_a_twentieth_of_a_percent_is_kept(units: int, low: int, high: int) -> None:
    """Unleash#7650, growthbook#3405: percentages below one were rounded away."""
    rule = TargetingRule(rollout_units=units, salt="f")
    assert FlagDefinition("f", is_enabled=True, rollout_percent=0, rule=rule).rule == rule
    hits = sum(fine_bucket(str(number), salt="f") < units for number in range(200_000))
    assert low <= hits <= high


def test_off_for_everyone_is_off_for_listed_ones_too() -> None:
    """django-waffle#575: a listed user kept the feature although it was off for everyone."""
    set_flag("f", actor="ana", is_enabled=True)
    set_rule("f", actor="ana", allowed=["ana"])
    kill_flags(["f"], actor="ana", reason="x")
    flag_cache.refresh(force=True)
    assert not is_enabled("f", subject_key="ana")


def test_one_user_gets_one_answer_in_every_browser() -> None:
    """django-waffle#1: percentages were drawn by cookie, so each browser drew its own."""
    user = SimpleNamespace(pk=7, is_authenticated=True)
    subjects = {subject_of(SimpleNamespace(user=user)) for _call in range(20)}  # type: ignore[arg-type]
    with override_flag("f", rollout_percent=50):
        assert len({evaluate("f", subject_key=subject) for subject in subjects}) == 1


def test_overrides_leave_no_trace_in_the_next_test() -> None:
    """django-waffle#570: a missing flag stayed cached after an override."""
    for _time in range(2):
        with override_flag("g"):
            assert is_enabled("g")
        assert not is_enabled("g")
