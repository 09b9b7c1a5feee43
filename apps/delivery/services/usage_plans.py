"""The limits of plans: refused where they contradict themselves."""

import logging

from django.db import IntegrityError, transaction

from apps.delivery.errors import ContradictoryPlan, NameTaken
from apps.delivery.models import PlanLimit
from apps.delivery.usage.terms import contradictions
from apps.delivery.usage_texts import CONTRADICTION_TEXTS

logger = logging.getLogger(__name__)


def check_limit(limit: PlanLimit) -> None:
    """Refuse terms that cannot be meant; the error lists every contradiction.

    Raises ContradictoryPlan.
    """
    found = contradictions(limit.terms)
    if not found:
        return
    problems = [
        {"field": name, "code": str(case), "message": str(CONTRADICTION_TEXTS[case])}
        for name, case in found
    ]
    first = problems[0]
    raise ContradictoryPlan(
        first["message"], details={"field": first["field"], "problems": problems}
    )


def save_limit(limit: PlanLimit, *, actor: str) -> PlanLimit:
    """Store a new or changed limit; it holds for the present period at once.

    Raises ContradictoryPlan, NameTaken when the plan limits the metric already.
    """
    check_limit(limit)
    try:
        with transaction.atomic():
            limit.save()
    except IntegrityError as error:
        raise NameTaken("metric_code", limit.metric_code) from error
    extra = {"plan_id": limit.plan_id, "metric": limit.metric_code, "actor": actor}
    logger.info("delivery.plan_limit_saved", extra=extra)
    return limit


def delete_limit(limit: PlanLimit, *, actor: str) -> None:
    """Take a limit away; the metric is then counted without an end."""
    extra = {"plan_id": limit.plan_id, "metric": limit.metric_code, "actor": actor}
    limit.delete()
    logger.info("delivery.plan_limit_deleted", extra=extra)
