"""What delivery promises to subscribers."""

from apps.outbox.event_types import declare

TEXT, COUNT = {"type": "string"}, {"type": "integer", "minimum": 0}

declare(
    "USAGE_LIMIT_REACHED",
    "An app's usage reached a share of what its plan includes, or its soft limit.",
    required={
        "app": TEXT,
        "metric": TEXT,
        "period": TEXT,
        "kind": {"enum": ["percent", "soft_limit"]},
        "percent": COUNT,
        "threshold": COUNT,
        "used": COUNT,
    },
)

declare(
    "PROCESS_JOB_REQUESTED",
    "A change was committed that asks for a recalculation; selectors are extended JSON.",
    required={"model": TEXT, "selectors": {}},
    optional={"accessContext": {"type": ["object", "null"]}},
)
