"""How live objects are read, against what a real cluster was recorded to show."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.delivery.rollout_state import (
    FINAL_PHASES,
    OPEN_PHASES,
    Phase,
    Reason,
    ReasonCode,
    can_move,
    find_reasons,
    hopeless,
    keep_since,
    read_progress,
    reason_from_json,
    reason_of_pod,
)

from .kube_server import recordings

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def pods_of(prefix: str, number: int = 7) -> list[dict[str, Any]]:
    items = recordings.exchange("11-rollout-failing", number).response["body"]["items"]
    return [item for item in items if item["metadata"]["name"].startswith(prefix)]


def deployment(scenario: str, number: int) -> dict[str, Any]:
    found: dict[str, Any] = recordings.exchange(scenario, number).response["body"]
    return found


def named(name: str) -> dict[str, Any]:
    """A Deployment two seconds after its apply."""
    items = deployment("11-rollout-failing", 8)["items"]
    return next(item for item in items if item["metadata"]["name"] == name)


def test_the_first_event_after_an_apply_is_not_taken_for_success() -> None:
    first, *_ = recordings.watched("10-rollout-healthy", 4)
    assert first["metadata"]["generation"] == 2
    assert not read_progress(first).is_complete
    assert read_progress(first).percent == 0


def test_a_healthy_rollout_is_complete_only_when_no_old_pod_is_left() -> None:
    seen = [read_progress(o) for o in recordings.watched("10-rollout-healthy", 4)]
    assert [p.is_complete for p in seen].index(True) == len(seen) - 2
    assert all(not p.is_complete for p in seen[:-2])


def test_progress_never_goes_back_in_a_healthy_rollout() -> None:
    percents = [read_progress(o).percent for o in recordings.watched("10-rollout-healthy", 4)]
    assert all(earlier <= later for earlier, later in pairwise(percents))
    assert percents[-1] == 100


def test_the_old_deadline_does_not_fail_the_next_release() -> None:
    """A rollback's first answer still shows ProgressDeadlineExceeded of the release before."""
    answer = deployment("12-rollback", 3)
    assert not read_progress(answer).is_deadline_exceeded
    assert find_reasons(answer, []) == []


@pytest.mark.parametrize(
    ("prefix", "code"),
    [
        ("imagem", ReasonCode.IMAGE_PULL),
        ("queda", ReasonCode.CRASH_LOOP),
        ("segredo", ReasonCode.MISSING_SECRET),
        ("gigante", ReasonCode.UNSCHEDULABLE),
    ],
)
def test_pods_say_why_long_before_the_deadline(prefix: str, code: ReasonCode) -> None:
    found = find_reasons(named(prefix), pods_of(prefix))
    assert [reason.code for reason in found] == [code]


def test_a_pod_that_never_becomes_ready_is_named() -> None:
    pod = next(p for p in pods_of("loja") if "never-ready" in str(p["metadata"]["annotations"]))
    reason = reason_of_pod(pod)
    assert reason is not None
    assert reason.code == ReasonCode.NOT_READY


def test_pods_that_serve_have_no_reason() -> None:
    healthy = [p for p in pods_of("loja") if "fakenode" not in str(p["metadata"]["annotations"])]
    assert [reason_of_pod(pod) for pod in healthy] == [None, None]


@pytest.mark.parametrize(
    ("scenario", "number", "code", "words"),
    [
        ("08-quota", 3, ReasonCode.QUOTA, "exceeded quota: oon-runtime-quota"),
        ("08-quota", 18, ReasonCode.QUOTA, "must specify limits.cpu"),
        ("09-pod-security", 2, ReasonCode.POD_SECURITY, "allowPrivilegeEscalation"),
        ("11-rollout-failing", 15, ReasonCode.MISSING_ACCOUNT, "no-such-account"),
    ],
)
def test_refused_pods_say_why_at_once(
    scenario: str, number: int, code: ReasonCode, words: str
) -> None:
    reason = find_reasons(deployment(scenario, number), [])[0]
    assert reason.code == code
    assert words in reason.message


def test_the_cause_is_told_rather_than_the_deadline() -> None:
    found = find_reasons(deployment("11-rollout-failing", 11), pods_of("imagem", 17))
    given_up = hopeless(keep_since([], found, now=NOW), now=NOW)
    assert given_up is not None
    assert given_up.code == ReasonCode.IMAGE_PULL


def test_the_deadline_alone_is_a_reason_too() -> None:
    found = find_reasons(deployment("11-rollout-failing", 10), [])
    given_up = hopeless(keep_since([], found, now=NOW), now=NOW)
    assert given_up is not None
    assert given_up.code == ReasonCode.DEADLINE


def test_a_paused_deployment_waits_and_says_so() -> None:
    found = find_reasons(deployment("11-rollout-failing", 26), [])
    assert [reason.code for reason in found] == [ReasonCode.PAUSED]
    assert hopeless(keep_since([], found, now=NOW), now=NOW + timedelta(days=1)) is None


def test_a_third_restart_ends_the_wait() -> None:
    (reason,) = find_reasons(named("queda"), pods_of("queda"))
    assert hopeless([reason], now=NOW) == reason
    assert "exit code 1" in reason.message


def test_an_image_gets_a_minute_to_come() -> None:
    found = keep_since([], [Reason(ReasonCode.IMAGE_PULL, "x")], now=NOW)
    assert hopeless(found, now=NOW + timedelta(seconds=59)) is None
    assert hopeless(found, now=NOW + timedelta(seconds=60)) == found[0]


def test_a_reason_that_goes_and_comes_back_starts_anew() -> None:
    first = keep_since([], [Reason(ReasonCode.QUOTA, "x")], now=NOW)
    gone = keep_since(first, [], now=NOW + timedelta(seconds=80))
    later = NOW + timedelta(seconds=100)
    assert hopeless(keep_since(gone, [Reason(ReasonCode.QUOTA, "x")], now=later), now=later) is None


def test_reasons_survive_storage() -> None:
    reason = Reason(ReasonCode.QUOTA, "x", NOW, is_certain=True)
    assert reason_from_json(reason.as_json()) == reason


def test_final_phases_lead_nowhere() -> None:
    assert not any(can_move(phase, target) for phase in FINAL_PHASES for target in Phase)


@pytest.mark.parametrize("phase", sorted(OPEN_PHASES))
def test_every_open_phase_can_end(phase: Phase) -> None:
    reached, todo = set(), [phase]
    while todo:
        current = todo.pop()
        fresh = {t for t in Phase if can_move(current, t)} - reached
        reached |= fresh
        todo += fresh
    assert reached & FINAL_PHASES


@given(
    status=st.fixed_dictionaries(
        {},
        optional={
            name: st.integers(0, 12)
            for name in ("observedGeneration", "replicas", "updatedReplicas", "availableReplicas")
        },
    ),
    wanted=st.integers(0, 10),
    generation=st.integers(1, 5),
)
def test_complete_means_observed_and_everything_new(
    status: dict[str, int], wanted: int, generation: int
) -> None:
    live = {
        "metadata": {"generation": generation},
        "spec": {"replicas": wanted},
        "status": status,
    }
    progress = read_progress(live)
    assert 0 <= progress.percent <= 100
    if progress.is_complete:
        assert status["observedGeneration"] >= generation
        assert progress.percent == 100
