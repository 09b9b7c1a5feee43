"""The recalculations that Pombo does itself."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from apps.delivery.errors import InvalidSelector
from apps.delivery.process_jobs.runners import process_runner
from apps.delivery.services import usage

USAGE_TOTAL = "UsageTotal"


@process_runner(USAGE_TOTAL, permission="delivery.change_usagetotal")
def recompute_usage(selectors: Any, access_context: Mapping[str, Any] | None) -> None:
    """Count the events of one app, metric and period anew; by `appCode`, `metric`, `period`.

    Needs no fence: the counter is locked while its events are summed, so a late run writes the
    same sum as a timely one.
    """
    if not isinstance(selectors, Mapping):
        raise InvalidSelector(type(selectors).__name__)
    app, metric, period = (selectors.get(name) for name in ("appCode", "metric", "period"))
    usage.recompute(str(app), str(metric), str(period), now=timezone.now())
