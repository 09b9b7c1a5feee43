"""The manifest of an app: everything wrong with it at once."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.delivery.app_manifest import (
    Issue,
    app_manifest_issues,
    public_usage_metrics,
    usage_metric_warnings,
    validate_app_manifest,
    validate_usage_metrics,
)
from apps.delivery.errors import InvalidAppManifest

from .vectors import vectors

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(["code", "name", "defaults", "overage", "mode", "priceMinor", "x"]),
            inner,
        )
    ),
)


def paths(issues: list[Issue]) -> list[str]:
    return [issue.path for issue in issues]


@pytest.mark.parametrize("case", vectors("validateUsageMetrics"), ids=lambda c: str(c["input"]))
def test_metrics_are_judged_as_by_the_original(case: dict[str, Any]) -> None:
    is_absent = case["input"] == "__undefined__"
    found = validate_usage_metrics() if is_absent else validate_usage_metrics(case["input"])
    assert paths(found) == case["output"]


@pytest.mark.parametrize("case", vectors("publicUsageMetrics"), ids=lambda c: str(c["input"]))
def test_public_metrics_equal_the_original(case: dict[str, Any]) -> None:
    assert public_usage_metrics(case["input"]) == case["output"]


@given(anything)
def test_judging_never_raises(value: Any) -> None:
    app_manifest_issues(value)
    validate_usage_metrics(value)
    validate_usage_metrics([value])


@pytest.mark.parametrize("code", ["ab\n", "áb", "a١"])
def test_a_code_is_ascii_without_a_line_break(code: str) -> None:
    assert paths(validate_usage_metrics([{"code": code, "name": "x"}])) == ["usageMetrics[0].code"]


def test_all_errors_come_in_one_answer() -> None:
    with pytest.raises(InvalidAppManifest) as refused:
        validate_app_manifest({"schemaVersion": 2, "typo": 1, "usageMetrics": [{"code": "Ab"}]})
    found = [issue["path"] for issue in refused.value.details["issues"]]
    assert found == ["typo", "schemaVersion", "usageMetrics[0].code", "usageMetrics[0].name"]


def test_a_valid_manifest_comes_back_as_a_copy() -> None:
    manifest = {"schemaVersion": 1, "usageMetrics": [{"code": "orders", "name": "Orders"}]}
    checked = validate_app_manifest(manifest)
    assert checked == manifest
    assert checked["usageMetrics"] is not manifest["usageMetrics"]


def test_contradictory_defaults_are_warned_about() -> None:
    per_unit = {"mode": "unit", "priceMinor": 5, "blockSize": 10}
    metrics = [{"defaults": {"onLimit": "auto_addon"}}, {"defaults": {"overage": per_unit}}]
    assert paths(usage_metric_warnings(metrics)) == [
        "usageMetrics[0].defaults",
        "usageMetrics[1].defaults.overage.blockSize",
    ]
