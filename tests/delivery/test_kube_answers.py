"""Answers of a real server, read as errors and as reasons to try again."""

import pytest

from apps.delivery.kube import answers, errors

from .kube_server import recordings


def recorded(scenario: str, number: int) -> answers.Answer:
    response = recordings.exchange(scenario, number).response
    return answers.read_answer(response["status"], response.get("body"), None)


@pytest.mark.parametrize(
    ("scenario", "number", "kind"),
    [
        ("00-discovery", 9, errors.ObjectMissing),
        ("04-apply-conflict", 2, errors.FieldConflict),
        ("06-dry-run", 1, errors.ObjectMissing),
        ("07-validation", 4, errors.ObjectRefused),
        ("07-validation", 26, errors.ObjectRefused),
        ("07-validation", 43, errors.ObjectRefused),
        ("08-quota", 7, errors.AdmissionDenied),
        ("09-pod-security", 5, errors.AdmissionDenied),
        ("14-list-watch", 36, errors.VersionExpired),
        ("15-delete", 0, errors.ObjectChanged),
        ("15-delete", 22, errors.AdmissionDenied),
        ("19-secret-string-data", 13, errors.ObjectExists),
        ("20-apply-preconditions", 6, errors.ObjectChanged),
    ],
)
def test_recorded_refusals_become_errors(scenario: str, number: int, kind: type[Exception]) -> None:
    assert type(answers.error_for(recorded(scenario, number))) is kind


@pytest.mark.parametrize(
    ("scenario", "number"),
    [("07-validation", 4), ("07-validation", 26), ("07-validation", 80), ("04-apply-conflict", 2)],
)
def test_final_refusals_are_not_tried_again(scenario: str, number: int) -> None:
    assert not answers.is_passing(recorded(scenario, number))


def test_a_stale_version_is_tried_again() -> None:
    assert answers.is_passing(recorded("20-apply-preconditions", 6))


def test_every_conflict_names_manager_and_field() -> None:
    error = answers.error_for(recorded("04-apply-conflict", 15))
    assert isinstance(error, errors.FieldConflict)
    assert {owner.manager for owner in error.owners} == {"kubectl-edit", "kubectl-label"}
    assert ".metadata.labels.app.kubernetes.io/managed-by" in {o.field for o in error.owners}
