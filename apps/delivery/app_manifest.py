"""What `central.app.json` may say: every broken rule in one pass, as a path and a message.

Paths are those of the original. Rules that only warn (a plan that contradicts itself) stand in
`usage_metric_warnings`, so that manifests which apps already ship stay valid.
"""

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from apps.delivery.errors import InvalidAppManifest

MAX_METRICS = 10
SCHEMA_VERSION = 1
TOP_LEVEL_KEYS = frozenset(
    {
        "$schema",
        "schemaVersion",
        "id",
        "name",
        "slug",
        "appKind",
        "tenancyModel",
        "availability",
        "accessMode",
        "authorizationMode",
        "deploymentMode",
        "modules",
        "capabilities",
        "capabilitySettings",
        "compatibility",
        "activation",
        "auth",
        "rbac",
        "usageMetrics",
    }
)
METRIC_KEYS = frozenset({"code", "name", "unit", "description", "defaults"})
ON_LIMIT = ("block", "auto_addon")
OVERAGE_MODES = ("unit", "block")
_METRIC_CODE = re.compile(r"[a-z][a-z0-9_.-]{1,62}")
_NAME_UNITS = 80
_SAFE_INTEGER = 2**53 - 1
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Issue:
    """One broken rule: where, and what would be right."""

    path: str
    message: str


def validate_app_manifest(data: Any) -> dict[str, Any]:
    """A copy of the manifest. Raises InvalidAppManifest with every issue.

    Judges the members' names, the schema version and the usage metrics.
    """
    issues = app_manifest_issues(data)
    if issues:
        listed = [{"path": issue.path, "message": issue.message} for issue in issues]
        raise InvalidAppManifest(_("central.app.json is not valid."), details={"issues": listed})
    return copy.deepcopy(dict(data))


def app_manifest_issues(data: Any) -> list[Issue]:
    """Everything that is wrong with the manifest; empty when it is valid."""
    if not isinstance(data, Mapping):
        return [Issue("", _("must be an object."))]
    issues = _unknown_keys(data, TOP_LEVEL_KEYS, "")
    if not _is_integer(data.get("schemaVersion"), low=SCHEMA_VERSION, high=SCHEMA_VERSION):
        issues.append(Issue("schemaVersion", _("must be %(version)d.") % {"version": 1}))
    return issues + validate_usage_metrics(data.get("usageMetrics", _ABSENT))


def validate_usage_metrics(value: Any = _ABSENT) -> list[Issue]:
    """What is wrong with `usageMetrics`; nothing when the member is left out."""
    if value is _ABSENT:
        return []
    if not isinstance(value, list) or len(value) > MAX_METRICS:
        message = _("must be a list of at most %(count)d metrics.") % {"count": MAX_METRICS}
        return [Issue("usageMetrics", message)]
    issues: list[Issue] = []
    seen: set[str] = set()
    for index, metric in enumerate(value):
        issues += _metric_issues(metric, f"usageMetrics[{index}]", seen)
    return issues


def usage_metric_warnings(metrics: list[dict[str, Any]]) -> list[Issue]:
    """Contradictions in the defaults of valid metrics, which a plan refuses."""
    warnings: list[Issue] = []
    for index, metric in enumerate(metrics):
        defaults = metric.get("defaults", {})
        overage, path = defaults.get("overage"), f"usageMetrics[{index}].defaults"
        if defaults.get("onLimit") == "auto_addon" and overage is None:
            warnings.append(Issue(path, _("auto_addon has nothing to charge without overage.")))
        if overage and overage["mode"] == "unit" and "blockSize" in overage:
            message = _("has no meaning when each unit is charged.")
            warnings.append(Issue(f"{path}.overage.blockSize", message))
    return warnings


def public_usage_metrics(config: Mapping[str, Any]) -> dict[str, Any]:
    """What `GET /api/core/usage-metrics` answers for an app's configuration."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "appCode": str(config.get("appCode") or config.get("slug") or "central"),
        "metrics": copy.deepcopy(config.get("usageMetrics") or []),
    }


def _metric_issues(metric: Any, path: str, seen: set[str]) -> list[Issue]:
    if not isinstance(metric, Mapping):
        return [Issue(path, _("must be an object."))]
    issues = _unknown_keys(metric, METRIC_KEYS, f"{path}.")
    issues += _code_issues(metric.get("code"), f"{path}.code", seen)
    if not _is_name(metric.get("name")):
        message = _("is required, with at most %(count)d characters.") % {"count": _NAME_UNITS}
        issues.append(Issue(f"{path}.name", message))
    return issues + _defaults_issues(metric.get("defaults", _ABSENT), f"{path}.defaults")


def _code_issues(code: Any, path: str, seen: set[str]) -> list[Issue]:
    if not isinstance(code, str) or not _METRIC_CODE.fullmatch(code):
        return [Issue(path, _("use lower-case letters, digits, dot, hyphen or underscore."))]
    if code in seen:
        return [Issue(path, _("the code is used twice."))]
    seen.add(code)
    return []


def _defaults_issues(defaults: Any, path: str) -> list[Issue]:
    if defaults is _ABSENT:
        return []
    if isinstance(defaults, list):
        return []  # to the original a list is an object without members
    if not isinstance(defaults, Mapping):
        return [Issue(path, _("must be an object."))]
    issues = []
    if "included" in defaults and not _is_integer(defaults["included"], low=0):
        issues.append(Issue(f"{path}.included", _("must be an integer from 0.")))
    if "onLimit" in defaults and defaults["onLimit"] not in ON_LIMIT:
        issues.append(Issue(f"{path}.onLimit", _("must be block or auto_addon.")))
    if "overage" in defaults:
        issues += _overage_issues(defaults["overage"], f"{path}.overage")
    return issues


def _overage_issues(overage: Any, path: str) -> list[Issue]:
    terms = overage if isinstance(overage, Mapping) else {}
    issues = []
    if terms.get("mode") not in OVERAGE_MODES:
        issues.append(Issue(f"{path}.mode", _("must be unit or block.")))
    if not _is_integer(terms.get("priceMinor"), low=1):
        issues.append(Issue(f"{path}.priceMinor", _("must be an amount in cents from 1.")))
    if terms.get("mode") == "block" and not _is_integer(terms.get("blockSize"), low=1):
        issues.append(Issue(f"{path}.blockSize", _("must be a size from 1.")))
    return issues


def _unknown_keys(value: Mapping[str, Any], known: frozenset[str], prefix: str) -> list[Issue]:
    unknown = [key for key in value if key not in known]
    return [Issue(f"{prefix}{key}", _("is not supported.")) for key in unknown]


def _is_name(value: Any) -> bool:
    """Not blank, and at most 80 UTF-16 units, as the original counts."""
    if not isinstance(value, str) or not value.strip().strip("\ufeff"):
        return False
    return len(value.encode("utf-16-be", "surrogatepass")) <= 2 * _NAME_UNITS


def _is_integer(value: Any, *, low: int, high: int = _SAFE_INTEGER) -> bool:
    """Whether JavaScript calls it a safe integer within the bounds: 1.0 is one, true is not."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return low <= value <= high and value == int(value)
