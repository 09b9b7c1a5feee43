"""What `central.app.json` may say: every broken rule in one pass, as a path and a message.

The rules stand in `app_manifest_schema` and nowhere else; here they are applied as the original
does: paths, their order, and what counts as one error. Rules that only warn (a plan that
contradicts itself) stand in `usage_metric_warnings`, so that manifests which apps already ship stay
valid.
"""

import copy
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from apps.delivery.app_manifest_schema import (
    MAX_METRICS,
    MAX_NAME_UNITS,
    SCHEMA,
    SCHEMA_VERSION,
    USAGE_METRICS_SCHEMA,
)
from apps.delivery.errors import InvalidAppManifest

__all__ = [
    "MAX_METRICS",
    "Issue",
    "app_manifest_issues",
    "app_manifest_warnings",
    "public_usage_metrics",
    "usage_metric_warnings",
    "validate_app_manifest",
    "validate_usage_metrics",
]

_ABSENT = object()
_METRIC_MEMBERS = frozenset({"included", "onLimit", "overage"})
_OVERAGE_MEMBERS = frozenset({"mode", "priceMinor", "blockSize"})

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Issue:
    """One broken rule: where, and what would be right."""

    path: str
    message: str


def validate_app_manifest(data: Any) -> dict[str, Any]:
    """A copy of the manifest. Raises InvalidAppManifest with every issue."""
    issues = app_manifest_issues(data)
    if issues:
        listed = [{"path": issue.path, "message": issue.message} for issue in issues]
        raise InvalidAppManifest(_("central.app.json is not valid."), details={"issues": listed})
    return copy.deepcopy(dict(data))


def app_manifest_issues(data: Any) -> list[Issue]:
    """Everything that is wrong with the manifest; empty when it is valid."""
    return _issues(data, SCHEMA, "")


def app_manifest_warnings(data: Mapping[str, Any]) -> list[Issue]:
    """What a valid manifest says and cannot mean."""
    return usage_metric_warnings(data.get("usageMetrics") or [])


def validate_usage_metrics(value: Any = _ABSENT) -> list[Issue]:
    """What is wrong with `usageMetrics`; nothing when the member is left out."""
    return [] if value is _ABSENT else _issues(value, USAGE_METRICS_SCHEMA, "usageMetrics")


def public_usage_metrics(config: Mapping[str, Any]) -> dict[str, Any]:
    """What `GET /api/core/usage-metrics` answers for an app's configuration."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "appCode": str(config.get("appCode") or config.get("slug") or "central"),
        "metrics": copy.deepcopy(config.get("usageMetrics") or []),
    }


def _rule_text(rule: str) -> str:
    """What would be right at a place of the schema."""
    texts: dict[str, Callable[[], str]] = {
        "object": lambda: _("must be an object."),
        "text": lambda: _("must be a text that is not empty."),
        "text_or_object": lambda: _("must be a text or an object."),
        "list_or_object": lambda: _("must be a list or an object."),
        "schema_version": lambda: _("must be %(version)d.") % {"version": SCHEMA_VERSION},
        "metrics": lambda: (
            _("must be a list of at most %(count)d metrics.") % {"count": MAX_METRICS}
        ),
        "metric_code": lambda: _("use lower-case letters, digits, dot, hyphen or underscore."),
        "metric_name": lambda: (
            _("is required, with at most %(count)d characters.") % {"count": MAX_NAME_UNITS}
        ),
        "count": lambda: _("must be an integer from 0."),
        "on_limit": lambda: _("must be block or auto_addon."),
        "mode": lambda: _("must be unit or block."),
        "cents": lambda: _("must be an amount in cents from 1."),
        "block_size": lambda: _("must be a size from 1."),
    }
    return texts[rule]()


def _pattern(_validator: Any, pattern: str, value: Any, _schema: Any) -> Iterator[ValidationError]:
    """As ECMAScript has it: `$` is the end, not also the place before a last line break."""
    if isinstance(value, str) and not re.search(re.sub(r"\$\Z", r"\\Z", pattern), value):
        yield ValidationError("pattern")


def _max_length(_validator: Any, most: int, value: Any, _schema: Any) -> Iterator[ValidationError]:
    """In UTF-16 units, as the original counts."""
    if isinstance(value, str) and len(value.encode("utf-16-be", "surrogatepass")) > 2 * most:
        yield ValidationError("maxLength")


def _unique_member(validator: Any, name: str, items: Any, schema: Any) -> Iterator[ValidationError]:
    """No two items have an equal member of this name; items that are wrong anyway do not count."""
    if not isinstance(items, list):
        return
    rule = validator.evolve(schema=schema["items"]["properties"][name])
    seen: set[str] = set()
    for index, item in enumerate(items):
        value = item.get(name) if isinstance(item, dict) else None
        if not isinstance(value, str) or not rule.is_valid(value):
            continue
        if value in seen:
            yield ValidationError("x-uniqueMember", path=[index, name])
        seen.add(value)


_Validator = extend(
    Draft202012Validator,
    {"pattern": _pattern, "maxLength": _max_length, "x-uniqueMember": _unique_member},
)


def _issues(data: Any, schema: dict[str, Any], root: str) -> list[Issue]:
    """One issue for each place, in the order of the schema; a place hides what lies below it."""
    found: dict[Path, str] = {}
    for error in _Validator(schema).iter_errors(data):
        for path, message in _places(error):
            found.setdefault(path, message)
    shown = sorted((path for path in found if not _is_hidden(path, found)), key=_Order(schema))
    return [Issue(_written(path, root), found[path]) for path in shown]


def _places(error: ValidationError) -> Iterator[tuple[Path, str]]:
    """Where an error is told: at the value, or at members that are missing or too many."""
    path, node = tuple(error.absolute_path), error.schema
    if error.validator == "additionalProperties":
        for name in error.instance:
            if name not in node["properties"]:
                yield (*path, name), _("is not supported.")
    elif error.validator == "required":
        for name in node["required"]:
            if name not in error.instance:
                yield (*path, name), _rule_text(node["properties"][name]["x-rule"])
    elif node.get("x-toldAsMembers"):
        for name in node["required"]:
            yield (*path, name), _rule_text(node["properties"][name]["x-rule"])
    elif error.validator == "x-uniqueMember":
        yield path, _("the code is used twice.")
    else:
        yield path, _rule_text(node["x-rule"])


def _is_hidden(path: Path, found: Mapping[Path, str]) -> bool:
    return any(path[:length] in found for length in range(len(path)))


class _Order:
    """Sorts paths as the schema lists them: members too many first, then by place."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema

    def __call__(self, path: Path) -> list[int]:
        node: dict[str, Any] = self.schema
        ranks = []
        for part in path:
            if isinstance(part, int):
                ranks.append(part)
                node = node.get("items", {})
            else:
                names = list(node.get("properties", {}))
                ranks.append(names.index(part) if part in names else -1)
                node = node.get("properties", {}).get(part, {})
        return ranks


def _written(path: Path, root: str) -> str:
    text = root
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text.encode("utf-8", "backslashreplace").decode()


def usage_metric_warnings(metrics: list[dict[str, Any]]) -> list[Issue]:
    """What valid metrics say and cannot mean; a plan refuses the contradictions among it."""
    warnings: list[Issue] = []
    for index, metric in enumerate(metrics):
        path = f"usageMetrics[{index}]"
        warnings += _metric_warnings(metric, path)
        if isinstance(defaults := metric.get("defaults"), dict):
            warnings += _defaults_warnings(defaults, f"{path}.defaults")
    return warnings


def _metric_warnings(metric: dict[str, Any], path: str) -> Iterator[Issue]:
    if str(metric.get("code", "")).endswith((".", "-", "_")):
        yield Issue(f"{path}.code", _("should end with a letter or digit."))
    for name in ("unit", "description"):
        if not isinstance(metric.get(name, ""), str):
            yield Issue(f"{path}.{name}", _("should be a text."))
    if isinstance(metric.get("defaults"), list):
        yield Issue(f"{path}.defaults", _("is a list and says nothing."))


def _defaults_warnings(defaults: dict[str, Any], path: str) -> Iterator[Issue]:
    overage, on_limit = defaults.get("overage"), defaults.get("onLimit")
    for name in sorted(defaults.keys() - _METRIC_MEMBERS):
        yield Issue(f"{path}.{name}", _("is not known and has no effect."))
    if on_limit == "auto_addon" and overage is None:
        yield Issue(path, _("auto_addon has nothing to charge without overage."))
    if on_limit == "block" and overage is not None:
        yield Issue(f"{path}.overage", _("is never charged where the limit blocks."))
    if not isinstance(overage, dict):
        return
    for name in sorted(overage.keys() - _OVERAGE_MEMBERS):
        yield Issue(f"{path}.overage.{name}", _("is not known and has no effect."))
    if overage["mode"] == "unit" and "blockSize" in overage:
        message = _("has no meaning when each unit is charged.")
        yield Issue(f"{path}.overage.blockSize", message)
