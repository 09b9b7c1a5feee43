"""The JSON Schema of `central.app.json`: published as it is, and the only rules that are checked.

`x-rule` names the sentence that says what would be right there; `x-uniqueMember` is a keyword of
our own, since JSON Schema cannot say that one member differs between the items of a list. Readers
that know neither ignore them.
"""

from typing import Any, Final

SCHEMA_PATH: Final = "schemas/central.app.json"
SCHEMA_VERSION: Final = 1
MAX_METRICS: Final = 10
MAX_NAME_UNITS: Final = 80
ON_LIMIT: Final = ("block", "auto_addon")
OVERAGE_MODES: Final = ("unit", "block")
METRIC_CODE: Final = "^[a-z][a-z0-9_.-]{1,62}$"
_SAFE_INTEGER: Final = 2**53 - 1
# Some character that String.prototype.trim of the original would leave.
_NOT_BLANK: Final = (
    "[^\\t\\n\\v\\f\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]"
)

Schema = dict[str, Any]


def _integer(low: int, rule: str) -> Schema:
    return {"type": "integer", "minimum": low, "maximum": _SAFE_INTEGER, "x-rule": rule}


def _text(description: str) -> Schema:
    rule = {"type": "string", "pattern": _NOT_BLANK, "x-rule": "text"}
    return {"description": description, **rule}


def _object(description: str) -> Schema:
    return {"description": description, "type": "object", "x-rule": "object"}


_OVERAGE: Final[Schema] = {
    "description": "The price of more use, in cents.",
    "type": "object",
    # The original reads anything as an object and misses its members.
    "x-toldAsMembers": True,
    "required": ["mode", "priceMinor"],
    "properties": {
        "mode": {"enum": list(OVERAGE_MODES), "x-rule": "mode"},
        "priceMinor": _integer(1, "cents"),
        "blockSize": {"description": "Units in a block; a block begun is charged whole."},
    },
    "if": {"required": ["mode"], "properties": {"mode": {"const": "block"}}},
    "then": {
        "required": ["blockSize"],
        "properties": {"blockSize": _integer(1, "block_size")},
    },
}
_DEFAULTS: Final[Schema] = {
    "description": "What a new plan proposes for this metric.",
    "type": ["object", "array"],  # to the original a list is an object without members
    "x-rule": "object",
    "properties": {
        "included": _integer(0, "count"),
        "onLimit": {"enum": list(ON_LIMIT), "x-rule": "on_limit"},
        "overage": _OVERAGE,
    },
}
_METRIC: Final[Schema] = {
    "type": "object",
    "x-rule": "object",
    "additionalProperties": False,
    "required": ["code", "name"],
    "properties": {
        "code": {"type": "string", "pattern": METRIC_CODE, "x-rule": "metric_code"},
        "name": {
            "$comment": "Counted in UTF-16 units.",
            "type": "string",
            "maxLength": MAX_NAME_UNITS,
            "pattern": _NOT_BLANK,
            "x-rule": "metric_name",
        },
        "unit": {"description": "What one of it is called."},
        "description": {"description": "What is counted, for people who choose a plan."},
        "defaults": _DEFAULTS,
    },
}
SCHEMA: Final[Schema] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": f"/{SCHEMA_PATH}",
    "title": "central.app.json",
    "description": "What an app tells the platform about itself.",
    "type": "object",
    "x-rule": "object",
    "additionalProperties": False,
    "required": ["schemaVersion"],
    "properties": {
        "$schema": _text("Address of this schema."),
        "schemaVersion": {"const": SCHEMA_VERSION, "x-rule": "schema_version"},
        "id": _text("Identity of the app."),
        "name": _text("Name for people."),
        "slug": _text("Short name, used in addresses."),
        "appKind": _text("Kind of app."),
        "tenancyModel": _text("How customers share it."),
        "availability": _text("Who may install it."),
        "accessMode": _text("Who may open it."),
        "authorizationMode": _text("Who decides about rights in it."),
        "deploymentMode": _text("How it is delivered."),
        "modules": {
            "description": "Its modules, by name or with their settings.",
            "type": ["array", "object"],
            "items": {"type": ["string", "object"], "x-rule": "text_or_object"},
            "x-rule": "list_or_object",
        },
        "capabilities": {
            "description": "Capabilities of the core that it uses.",
            "type": ["array", "object"],
            "items": {"type": ["string", "object"], "x-rule": "text_or_object"},
            "x-rule": "list_or_object",
        },
        "capabilitySettings": _object("Settings of capabilities, by their names."),
        "compatibility": _object("Versions that it works with."),
        "activation": _object("What happens when it is activated."),
        "auth": _object("How people sign in."),
        "rbac": _object("Its roles and permissions."),
        "usageMetrics": {
            "description": "What it counts, for the limits of plans.",
            "type": "array",
            "maxItems": MAX_METRICS,
            "items": _METRIC,
            "x-uniqueMember": "code",
            "x-rule": "metrics",
        },
    },
}
USAGE_METRICS_SCHEMA: Final[Schema] = SCHEMA["properties"]["usageMetrics"]
