"""The published schema and the check are one; what is wrong is said in both languages."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import translation
from jsonschema import Draft202012Validator
from rest_framework.test import APIClient

from apps.delivery.app_manifest import (
    Issue,
    app_manifest_issues,
    usage_metric_warnings,
)
from apps.delivery.app_manifest_schema import SCHEMA
from apps.delivery.errors import InvalidAppManifest
from apps.delivery.models import PlanLimit, UsageMetric
from apps.delivery.services.usage_metrics import declare_metrics, prefill_limits

from .rows import make_app
from .test_usage_api import as_app
from .vectors import vectors

ORDERS = {"code": "orders", "name": "Orders"}


def manifest(*metrics: Any, **members: Any) -> dict[str, Any]:
    return {"schemaVersion": 1, "usageMetrics": list(metrics), **members}


def paths(issues: list[Issue]) -> list[str]:
    return [issue.path for issue in issues]


FULL = manifest(
    {
        **ORDERS,
        "unit": "order",
        "description": "Orders paid",
        "defaults": {
            "included": 1000,
            "onLimit": "auto_addon",
            "overage": {"mode": "block", "priceMinor": 990, "blockSize": 500},
        },
    },
    **{
        "$schema": "https://pombo.example/schemas/central.app.json",
        "id": "loja",
        "name": "Loja",
        "slug": "loja",
        "appKind": "business",
        "tenancyModel": "multi",
        "availability": "public",
        "accessMode": "invite",
        "authorizationMode": "rbac",
        "deploymentMode": "container",
        "modules": ["orders"],
        "capabilities": ["core.secrets"],
        "capabilitySettings": {"core.secrets": {"enabled": True}},
        "compatibility": {"core": ">=0.7"},
        "activation": {"mode": "manual"},
        "auth": {"providers": ["google"]},
        "rbac": {"roles": [{"code": "owner"}]},
    },
)


def test_a_manifest_with_every_member_is_valid() -> None:
    assert app_manifest_issues(FULL) == []


@pytest.mark.parametrize("name", sorted(FULL.keys() - {"schemaVersion"}))
def test_every_member_has_a_type(name: str) -> None:
    assert paths(app_manifest_issues({**FULL, name: 7})) == [name]


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("case", vectors("validateUsageMetrics"), ids=lambda c: str(c["input"]))
def test_the_published_schema_says_what_the_check_says(case: dict[str, Any]) -> None:
    """A plain validator reads it alike, but for codes used twice, which it cannot see."""
    if case["input"] == "__undefined__":
        return
    found = app_manifest_issues(manifest() | {"usageMetrics": case["input"]})
    is_twice = [issue.message for issue in found] == ["the code is used twice."]
    is_valid = Draft202012Validator(SCHEMA).is_valid(manifest() | {"usageMetrics": case["input"]})
    assert is_valid == (not found or is_twice)


def test_the_schema_is_published(anonymous_api: APIClient) -> None:
    answer = anonymous_api.get("/schemas/central.app.json")
    assert answer["Content-Type"] == "application/schema+json"
    assert answer.json() == SCHEMA
    assert "max-age" in answer["Cache-Control"]


def test_every_error_comes_in_portuguese_as_well() -> None:
    broken = {
        "typo": 1,
        "name": " ",
        "modules": 7,
        "auth": [],
        "capabilities": [1],
        "usageMetrics": [7, {"code": "A", "name": ""}, {**ORDERS, "defaults": {"onLimit": "x"}}],
    }
    english = app_manifest_issues(broken)
    with translation.override("pt-br"):
        portuguese = app_manifest_issues(broken)
    assert paths(english) == paths(portuguese)
    assert len(english) == 10
    assert all(a.message != b.message for a, b in zip(english, portuguese, strict=True))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"defaults": {"onLimit": "block", "overage": {"mode": "unit"}}}, ".defaults.overage"),
        ({"defaults": {"includes": 5}}, ".defaults.includes"),
        ({"defaults": []}, ".defaults"),
        ({"unit": 7}, ".unit"),
        ({"description": []}, ".description"),
        ({"code": "orders."}, ".code"),
        ({"defaults": {"overage": {"mode": "unit", "prize": 1}}}, ".defaults.overage.prize"),
    ],
)
def test_what_cannot_be_meant_is_warned_about(fields: dict[str, Any], expected: str) -> None:
    found = paths(usage_metric_warnings([{**ORDERS, **fields}]))
    assert found == [f"usageMetrics[0]{expected}"]


@pytest.fixture
def file(tmp_path: Path) -> Any:
    def write(content: Any) -> str:
        path = tmp_path / "central.app.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    return write


def run(*arguments: str) -> tuple[int, str]:
    """Exit code and what was printed."""
    from io import StringIO

    out = StringIO()
    try:
        call_command("app_manifest", *arguments, stdout=out)
    except CommandError as error:
        return error.returncode, out.getvalue() + str(error)
    return 0, out.getvalue()


def test_the_command_checks_a_file(file: Any) -> None:
    code, text = run("check", file(FULL))
    assert (code, "is valid" in text) == (0, True)
    code, text = run("check", file({"typo": 1}), "--language", "pt-br")
    assert code == 1
    assert "error: typo: não é suportado" in text
    assert "schemaVersion" in text


def test_the_command_answers_programs(file: Any) -> None:
    contradictory = manifest({**ORDERS, "defaults": {"onLimit": "auto_addon"}})
    code, text = run("check", file(contradictory), "--json")
    assert (code, json.loads(text)["valid"]) == (0, True)
    assert json.loads(text)["warnings"][0]["path"] == "usageMetrics[0].defaults"
    assert run("check", file(contradictory), "--strict")[0] == 1


@pytest.mark.parametrize("content", ["{", '{"a": 1, "a": 2}', '{"a": NaN}', "[" * 100_000])
def test_what_is_no_json_has_a_code_of_its_own(file: Any, content: str) -> None:
    assert run("check", file(content))[0] == 2


def test_a_missing_file_has_the_same_code() -> None:
    assert run("check", "/nowhere/central.app.json")[0] == 2


def test_the_command_prints_the_schema() -> None:
    assert json.loads(run("schema")[1]) == SCHEMA


@pytest.mark.django_db
def test_metrics_follow_the_manifest_and_keep_their_rows(file: Any) -> None:
    app = make_app()
    first = declare_metrics(app, manifest(ORDERS, {"code": "users", "name": "U"}), actor="ana")
    assert (first.added, first.withdrawn) == (["orders", "users"], [])
    second = declare_metrics(app, manifest({**ORDERS, "name": "Paid"}), actor="ana")
    assert (second.added, second.changed, second.withdrawn) == ([], ["orders"], ["users"])
    assert UsageMetric.objects.filter(app=app).count() == 2
    back = file(manifest({"code": "users", "name": "U"}))
    assert "withdrawn: orders" in run("declare", back, "--app", "loja", "--dry-run")[1]
    assert UsageMetric.objects.get(code="orders").is_declared
    assert json.loads(run("declare", back, "--app", "loja", "--json")[1])["changed"] == ["users"]
    assert not UsageMetric.objects.get(code="orders").is_declared
    assert run("declare", back, "--app", "nope")[0] == 1
    assert "usageMetrics" in run("declare", file(manifest(7)), "--app", "loja")[1]


@pytest.mark.django_db
def test_a_broken_manifest_declares_nothing() -> None:
    with pytest.raises(InvalidAppManifest):
        declare_metrics(make_app(), manifest(ORDERS, 7), actor="ana")
    assert not UsageMetric.objects.exists()


@pytest.mark.django_db
def test_a_plan_takes_over_what_the_manifest_proposes_and_can_be_meant() -> None:
    app = make_app()
    proposals = {"included": 5, "onLimit": "auto_addon"}
    wrong = {"code": "users", "name": "U", "defaults": proposals}
    declare_metrics(app, manifest(FULL["usageMetrics"][0], wrong), actor="ana")
    assert prefill_limits(app, actor="ana") == ["orders"]
    assert prefill_limits(app, actor="ana") == []
    limit = PlanLimit.objects.get()
    assert (limit.included, limit.block_size, limit.price_minor) == (1000, 500, 990)


@pytest.mark.django_db
def test_usage_metrics_are_told_in_the_form_of_the_original(api_as: Any) -> None:
    app = make_app()
    metric = FULL["usageMetrics"][0]
    put = api_as("delivery:write").put("/api/v1/delivery/apps/loja/manifest/", manifest(metric))
    assert put.json()["added"] == ["orders"]
    expected = {"schemaVersion": 1, "appCode": "loja", "metrics": [metric]}
    reader = api_as("usage:read")
    assert reader.get("/api/core/usage-metrics/loja").json() == expected
    assert reader.get("/api/core/usage-metrics/nope").status_code == 404
    assert as_app(app).get("/api/core/usage-metrics").json() == expected
    own = {"schemaVersion": 1, "appCode": "central", "metrics": []}
    assert reader.get("/api/core/usage-metrics").json() == own
    assert as_app(make_app("blog")).get("/api/core/usage-metrics/loja").status_code == 403


@pytest.mark.django_db
def test_a_manifest_is_checked_over_http_in_the_callers_language(api_as: Any) -> None:
    reader = api_as("delivery:read")
    address = "/api/v1/delivery/manifest-check/"
    answer = reader.post(address, {"typo": 1}, HTTP_ACCEPT_LANGUAGE="pt-br").json()
    assert answer["valid"] is False
    assert answer["issues"][0] == {"path": "typo", "message": "não é suportado."}
    assert reader.post(address, FULL).json() == {"valid": True, "issues": [], "warnings": []}
    assert reader.post(address, [1]).json()["issues"][0]["path"] == ""
