"""Flags over the API, and OpenFeature clients that ask unchanged."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from openfeature import api as openfeature
from openfeature.contrib.provider.ofrep import OFREPProvider
from openfeature.evaluation_context import EvaluationContext
from rest_framework.test import APIClient

from apps.common.scopes import Scope
from apps.flags.models import FeatureFlag
from apps.flags.services import evaluate, flag_cache, kill_flags, set_flag, set_rule
from apps.whatsapp_auth.services.tokens import issue_token

pytestmark = pytest.mark.django_db

ApiAs = Callable[..., APIClient]
BULK = "/ofrep/v1/evaluate/flags"


def asked(subject: str | None) -> dict[str, Any]:
    return {"context": {} if subject is None else {"targetingKey": subject}}


@pytest.fixture(autouse=True)
def _flags() -> None:
    set_flag("all", actor="ana", is_enabled=True, rollout_percent=100)
    set_flag("half", actor="ana", is_enabled=True, rollout_percent=50)
    flag_cache.refresh(force=True)


def test_a_flag_is_made_changed_and_removed(api_as: ApiAs) -> None:
    api = api_as(Scope.FLAGS_READ, Scope.FLAGS_WRITE)
    wish = {"flag_name": "New One", "is_enabled": True, "rollout_percent": 5}
    assert api.post("/api/v1/flags", wish).json()["flag_name"] == "newone"
    changed = api.patch("/api/v1/flags/newone", {"rollout_percent": 25, "reason": "fine"})
    assert (changed.json()["rollout_percent"], changed.json()["updated_by"]) == (25, "owner")
    log = api.get("/api/v1/flags/newone/changes").json()["results"]
    assert [change["action"] for change in log] == ["changed", "created"]
    revert = f"/api/v1/flags/newone/changes/{log[0]['id']}/revert"
    assert api.post(revert, {"reason": "no"}).json()["after"]["rollout_percent"] == 5
    assert api.delete("/api/v1/flags/newone").status_code == 204
    assert api.get("/api/v1/flags/newone").status_code == 404


def test_a_bad_percentage_is_refused(api_as: ApiAs) -> None:
    answer = api_as(Scope.FLAGS_WRITE).patch("/api/v1/flags/half", {"rollout_percent": 101})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_input")


@pytest.mark.parametrize("days", ["²", "-1", "9999999999", "soon"])
def test_a_bad_number_of_days_is_refused(api_as: ApiAs, days: str) -> None:
    answer = api_as(Scope.FLAGS_READ).get("/api/v1/flags/stale", {"days": days})
    assert answer.status_code == 400


def test_reading_does_not_allow_changing(api_as: ApiAs) -> None:
    api = api_as(Scope.FLAGS_READ)
    assert api.get("/api/v1/flags").status_code == 200
    assert api.patch("/api/v1/flags/half", {"rollout_percent": 1}).status_code == 403
    assert api.post(BULK, asked("a")).status_code == 403


def test_the_snapshot_is_not_sent_twice(api_as: ApiAs) -> None:
    api = api_as(Scope.FLAGS_READ)
    first = api.get("/api/v1/flags/snapshot")
    again = api.get("/api/v1/flags/snapshot", headers={"If-None-Match": first["ETag"]})
    assert (first.status_code, again.status_code) == (200, 304)
    set_flag("half", actor="ana", rollout_percent=51)
    flag_cache.refresh(force=True)
    changed = api.get("/api/v1/flags/snapshot", headers={"If-None-Match": first["ETag"]})
    assert changed.status_code == 200


def test_answers_come_with_their_reasons(api_as: ApiAs) -> None:
    api = api_as(Scope.FLAGS_EVALUATE)
    wish = {"subject_key": "abc", "flags": ["half", "unknown"]}
    flags = api.post("/api/v1/flags/evaluate", wish).json()["flags"]
    assert flags["half"]["reason"] == "SPLIT"
    assert flags["half"]["value"] == evaluate("half", subject_key="abc").value
    assert flags["unknown"] == {"value": False, "reason": "DEFAULT", "bucket": None}


def test_a_rule_and_a_rollout_are_planned_over_the_api(api_as: ApiAs) -> None:
    api = api_as(Scope.FLAGS_READ, Scope.FLAGS_WRITE)
    rule = api.patch("/api/v1/flags/half/rule", {"rollout_units": 50, "allowed": ["vip"]})
    assert (rule.json()["rollout_units"], rule.json()["allowed"]) == (50, ["vip"])
    due = (timezone.now() + timedelta(days=1)).isoformat()
    steps = {"steps": [{"due_at": due, "rollout_percent": 80}]}
    assert api.put("/api/v1/flags/half/rollout", steps).json()[0]["status"] == "pending"
    assert api.post("/api/v1/flags/half/rollout/abort").json()[0]["status"] == "aborted"
    assert api.post("/api/v1/flags/half/kill", {"reason": "x"}).json()["rule"]["is_killed"]
    assert api.get("/api/v1/flags/stale?days=1").status_code == 200


@pytest.mark.parametrize(
    ("key", "body", "status", "code"),
    [
        ("nowhere", asked("a"), 404, "FLAG_NOT_FOUND"),
        ("half", asked(None), 400, "TARGETING_KEY_MISSING"),
        ("half", {"context": []}, 400, "INVALID_CONTEXT"),
        ("half", {"context": {"targetingKey": 5}}, 400, "INVALID_CONTEXT"),
    ],
)
def test_ofrep_names_its_errors(
    api_as: ApiAs, key: str, body: dict[str, Any], status: int, code: str
) -> None:
    answer = api_as(Scope.FLAGS_EVALUATE).post(f"{BULK}/{key}", body)
    assert (answer.status_code, answer.json()["errorCode"]) == (status, code)


def test_ofrep_needs_a_subject_where_a_prerequisite_is_a_percentage(api_as: ApiAs) -> None:
    set_rule("all", actor="ana", prerequisites=["half"])
    flag_cache.refresh(force=True)
    answer = api_as(Scope.FLAGS_EVALUATE).post(f"{BULK}/all", asked(None))
    assert (answer.status_code, answer.json()["errorCode"]) == (400, "TARGETING_KEY_MISSING")


@pytest.mark.parametrize("address", [BULK, f"{BULK}/half"])
def test_ofrep_names_a_body_that_is_no_json(api_as: ApiAs, address: str) -> None:
    api = api_as(Scope.FLAGS_EVALUATE)
    answer = api.post(address, "{", content_type="application/json")
    assert (answer.status_code, answer.json()["errorCode"]) == (400, "PARSE_ERROR")


def test_a_change_is_reverted_only_under_its_own_flag(api_as: ApiAs) -> None:
    api = api_as(Scope.FLAGS_READ, Scope.FLAGS_WRITE)
    set_flag("half", actor="ana", rollout_percent=60)
    change = api.get("/api/v1/flags/half/changes").json()["results"][0]["id"]
    answer = api.post(f"/api/v1/flags/all/changes/{change}/revert", {"reason": "no"})
    assert answer.status_code == 404
    assert FeatureFlag.objects.get(flag_name="half").rollout_percent == 60


def test_the_snapshot_tells_that_a_flag_is_killed(api_as: ApiAs) -> None:
    api = api_as(Scope.FLAGS_READ)
    before = api.get("/api/v1/flags/snapshot")
    set_rule("all", actor="ana", denied=["b", "a"])
    kill_flags(["all"], actor="ana", reason="x")
    flag_cache.refresh(force=True)
    after = api.get("/api/v1/flags/snapshot", headers={"If-None-Match": before["ETag"]})
    rules = {row["flag_name"]: row["rule"] for row in after.json()["flags"]}
    assert (rules["all"]["is_killed"], rules["all"]["denied"]) == (True, ["a", "b"])
    assert rules["half"] is None


def test_ofrep_answers_all_flags_and_not_twice(api_as: ApiAs) -> None:
    api = api_as(Scope.FLAGS_EVALUATE)
    first = api.post(BULK, asked("abc"))
    found = {row["key"]: row for row in first.json()["flags"]}
    assert found["half"]["value"] == evaluate("half", subject_key="abc").value
    assert found["all"]["reason"] == "STATIC"
    again = api.post(BULK, asked("abc"), headers={"If-None-Match": first["ETag"]})
    assert again.status_code == 304


def test_client_side_tokens_see_only_what_is_meant_for_them(owner: User) -> None:
    _token, secret = issue_token(
        "web", owner=owner, scopes=[Scope.FLAGS_EVALUATE], is_client_side=True
    )
    api = APIClient(HTTP_AUTHORIZATION=f"Bearer {secret}")
    set_rule("all", actor="ana", is_client_visible=True)
    flag_cache.refresh(force=True)
    assert [row["key"] for row in api.post(BULK, asked("a")).json()["flags"]] == ["all"]
    assert api.post(f"{BULK}/half", asked("a")).status_code == 404


def test_a_killed_flag_is_off_through_every_door(api_as: ApiAs) -> None:
    kill_flags(["all"], actor="ana", reason="x")
    flag_cache.refresh(force=True)
    api = api_as(Scope.FLAGS_EVALUATE)
    assert api.post(f"{BULK}/all", asked("a")).json()["value"] is False
    found = api.post("/api/v1/flags/evaluate", {"flags": ["all"]}).json()["flags"]["all"]
    assert found == {"value": False, "reason": "KILLED", "bucket": None}


@pytest.mark.django_db(transaction=True)
def test_the_real_openfeature_client_works_unchanged(live_server: Any, owner: User) -> None:
    FeatureFlag.objects.filter(flag_name="half").update(rollout_percent=50)
    flag_cache.refresh(force=True)
    _token, secret = issue_token("sdk", owner=owner, scopes=[Scope.FLAGS_EVALUATE])
    headers = {"Authorization": f"Bearer {secret}"}
    provider = OFREPProvider(live_server.url, headers_factory=lambda: headers)
    openfeature.set_provider(provider)
    client = openfeature.get_client()
    for subject in ("abc", "user-0", "user-1", "😀"):
        context = EvaluationContext(targeting_key=subject)
        assert client.get_boolean_value("half", True, context) == (
            evaluate("half", subject_key=subject).value
        )
    details = client.get_boolean_details("nowhere", True, EvaluationContext("abc"))
    assert (details.value, details.error_code) == (True, "FLAG_NOT_FOUND")
