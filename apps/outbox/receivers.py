"""What the outbox publishes for apps below it, which cannot publish themselves."""

from typing import Any

from apps.outbox.event_types import declare
from apps.outbox.services import publish

FLAG_CHANGED = "FLAG_CHANGED"
declare(
    FLAG_CHANGED,
    "A feature flag was created, changed or deleted.",
    required={"flag_name": {"type": "string"}},
    optional={"action": {}, "before": {}, "after": {}, "actor": {}},
)


def publish_flag_change(sender: Any, *, flag_name: str, **change: Any) -> None:
    """Tell subscribers that a flag changed, in the transaction of the change."""
    payload = {
        "flag_name": flag_name,
        **{name: change.get(name) for name in ("action", "before", "after", "actor")},
    }
    publish(FLAG_CHANGED, "feature_flag", flag_name, payload, priority=60)
