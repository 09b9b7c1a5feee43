"""Who may write a deployment: one worker at a time, by a lease that runs out.

A claim sets a fresh token (the fencing token). Every later write names it and must change a row,
so a worker that was thought dead, and wakes up, changes nothing.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Q

from apps.delivery.choices import StepStatus
from apps.delivery.errors import DeploymentLeaseLost
from apps.delivery.models import Deployment, DeploymentStep
from apps.delivery.rollout_queries import open_deployments
from apps.delivery.rollout_state import FINAL_PHASES, Phase, can_move
from apps.outbox.services.publishing import publish

Clock = Callable[[], datetime]
_MESSAGE_LENGTH = 1000
# Central is told three times; after that the event waits among the dead letters.
_REPORT_ATTEMPTS = 3


@dataclass(slots=True)
class Hold:
    """A claimed deployment in the hands of this worker."""

    deployment: Deployment
    token: str
    clock: Clock
    renewed_at: datetime = field(init=False)

    def __post_init__(self) -> None:
        self.renewed_at = self.clock()

    def keep(self) -> None:
        """Renew the lease when a third of it has gone by. Raises DeploymentLeaseLost."""
        now = self.clock()
        if now - self.renewed_at >= lease() / 3:
            self.write(lease_until=now + lease())
            self.renewed_at = now

    def write(self, **values: Any) -> None:
        """Change columns while the lease is ours. Raises DeploymentLeaseLost."""
        mine = Deployment.objects.filter(pk=self.deployment.pk, lease_token=self.token)
        if not mine.update(**values):
            raise DeploymentLeaseLost(f"Another worker drives deployment {self.deployment.pk}.")
        for name, value in values.items():
            setattr(self.deployment, name, value)

    def move(self, phase: Phase, **values: Any) -> None:
        """Go to the next phase; a final one gives up the place. Raises DeploymentLeaseLost."""
        assert can_move(Phase(self.deployment.phase), phase), phase  # noqa: S101 - own callers
        now = self.clock()
        values |= {"phase": phase.value, "phase_since": now}
        if phase not in FINAL_PHASES:
            self.write(**values)
            return
        values |= {"finished_at": now, "active_environment": None}
        with transaction.atomic():
            self.write(**values)
            publish_end(self.deployment)

    def note(self, name: str, message: str = "", *, status: str = StepStatus.DONE) -> None:
        """Write a line of the timeline; a line that is there already stays as it is."""
        DeploymentStep.objects.get_or_create(
            deployment=self.deployment,
            name=name,
            defaults={
                "status": status,
                "message": message[:_MESSAGE_LENGTH],
                "at": self.clock(),
            },
        )

    def has_noted(self, name: str) -> bool:
        """Whether a step was taken before, by this worker or one before it."""
        return self.deployment.steps.filter(name=name).exists()

    def release(self, *, rest: timedelta = timedelta(0)) -> None:
        """Hand the deployment back; nobody takes it before the rest is over.

        The time stays in the row: turns go to the one that has waited longest.
        """
        until = self.clock() + rest
        mine = Deployment.objects.filter(pk=self.deployment.pk, lease_token=self.token)
        mine.update(lease_token="", lease_until=until)


def publish_end(deployment: Deployment) -> None:
    """Let everybody know how a deployment ended; in the transaction that ends it."""
    payload = {
        "environment": deployment.environment.namespace,
        "release": deployment.release.number,
        "phase": deployment.phase,
        "error_code": deployment.error_code,
    }
    key = str(deployment.pk)
    publish("DEPLOYMENT_FINISHED", "deployment", key, payload, max_attempts=_REPORT_ATTEMPTS)


def lease() -> timedelta:
    """How long a claim lives without a sign of life."""
    return timedelta(seconds=settings.DELIVERY_LEASE_SECONDS)


def claim_next(clock: Clock) -> Hold | None:
    """Claim the open deployment that has waited longest; None when there is nothing to do."""
    free = Q(lease_until=None) | Q(lease_until__lte=clock())
    waiting = open_deployments().filter(free).select_related("environment__app", "release")
    for deployment in waiting.order_by(F("lease_until").asc(nulls_first=True), "id")[:50]:
        hold = claim(deployment, clock)
        if hold is not None:
            return hold
    return None


def claim(deployment: Deployment, clock: Clock) -> Hold | None:
    """Claim one deployment; None when another worker, or another deployment, is in its place."""
    token, now = str(uuid.uuid4()), clock()
    free = Q(lease_until=None) | Q(lease_until__lte=now)
    row = Deployment.objects.filter(free, pk=deployment.pk, phase=deployment.phase)
    try:
        with transaction.atomic():
            if not row.update(
                lease_token=token,
                lease_until=now + lease(),
                active_environment=deployment.environment_id,
            ):
                return None
    except IntegrityError:
        # The place of its environment is taken: it waits for the one before it to end.
        return None
    deployment.refresh_from_db()
    return Hold(deployment, token, clock)
