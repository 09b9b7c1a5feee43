"""Following a rollout in the cluster until it is complete, hopeless, or out of time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import Any

from django.conf import settings

from apps.delivery.kube.cluster import Cluster
from apps.delivery.manifests.metadata import (
    NAME_LABEL,
    RELEASE_ANNOTATION,
    SECRETS_CHECKSUM_ANNOTATION,
    membership_labels,
)
from apps.delivery.manifests.runtime import PROGRESS_DEADLINE_SECONDS
from apps.delivery.models import Release
from apps.delivery.rollout_state import (
    Progress,
    Reason,
    ReasonCode,
    find_reasons,
    hopeless,
    keep_since,
    read_progress,
    reason_from_json,
)
from apps.delivery.services.leases import Hold

# The cluster's own deadline comes first, so that it is the cluster that says what went wrong.
ROLLOUT_BUDGET = timedelta(seconds=PROGRESS_DEADLINE_SECONDS + 60)
# Pods change without a word from their Deployment, so they are looked at this often.
_LOOK_SECONDS = 1
_GONE = "The Deployment was deleted in the cluster."

Manifest = dict[str, Any]


class Outcome(Enum):
    """How a look at a rollout ended, unless it was given up."""

    COMPLETE = "complete"
    UNDER_WAY = "under way"


@dataclass(frozen=True, slots=True)
class GivenUp:
    """A rollout that will not get there, and why."""

    code: str
    message: str


def rollback_budget() -> timedelta:
    """The time that a rollback has for itself, whatever the way forward took."""
    return timedelta(seconds=settings.DELIVERY_ROLLBACK_SECONDS)


def follow(hold: Hold, cluster: Cluster, release: Release, *, seconds: float) -> Outcome | GivenUp:
    """Watch the Deployment for a while; progress and reasons are kept on the way.

    Raises ClusterUnreachable, DeploymentLeaseLost.
    """
    environment = hold.deployment.environment
    selector = ",".join(f"{k}={v}" for k, v in membership_labels(environment.app.code).items())
    live: Manifest | None = None
    for event in cluster.watch(
        "Deployment",
        namespace=environment.namespace,
        labels=selector,
        deadline_seconds=seconds,
        window_seconds=_LOOK_SECONDS,
    ):
        hold.keep()
        if event is not None and event.object["metadata"]["name"] == environment.app.code:
            live = None if event.type == "DELETED" else event.object
        # A whole window without a word follows the list, so what it did not show is not there.
        is_listed = event is None or event.type == "DELETED"
        outcome = _judge(hold, cluster, live, is_listed=is_listed)
        if outcome is not Outcome.UNDER_WAY:
            return outcome
    return Outcome.UNDER_WAY


def _judge(
    hold: Hold, cluster: Cluster, live: Manifest | None, *, is_listed: bool
) -> Outcome | GivenUp:
    """One look. A Deployment that was applied and is not listed was deleted by somebody."""
    now = hold.clock()
    is_late = hold.deployment.deadline_at is not None and now >= hold.deployment.deadline_at
    if live is None:
        return GivenUp("object_missing", _GONE) if is_listed else Outcome.UNDER_WAY
    progress = read_progress(live)
    if progress.is_complete:
        return Outcome.COMPLETE
    found = find_reasons(live, _pods_of(hold, cluster, live))
    before = [reason_from_json(stored) for stored in hold.deployment.reasons]
    reasons = keep_since(before, found, now=now)
    _remember(hold, progress, reasons)
    lost = hopeless(reasons, now=now)
    if lost is None and is_late:
        lost = reasons[0] if reasons else Reason(ReasonCode.DEADLINE, "The time is over.")
    return GivenUp(lost.code.value, lost.message) if lost else Outcome.UNDER_WAY


def _remember(hold: Hold, progress: Progress, reasons: Sequence[Reason]) -> None:
    """Keep what an operator sees; only what changed is written."""
    deployment = hold.deployment
    stored = [reason.as_json() for reason in reasons]
    if (deployment.percent, deployment.reasons) != (progress.percent, stored):
        hold.write(percent=progress.percent, reasons=stored)
    for reason in reasons:
        if reason.code not in {ReasonCode.NOT_READY, ReasonCode.DEADLINE}:
            hold.note(f"{deployment.phase}: {reason.code.value}", reason.message, status="note")


def _pods_of(hold: Hold, cluster: Cluster, live: Manifest) -> list[Manifest]:
    """The pods of the present template: those of the release before fail for other reasons."""
    environment = hold.deployment.environment
    label = f"{NAME_LABEL}={environment.app.code}"
    wanted = _marks(live["spec"]["template"]["metadata"])
    pods = cluster.list_all("Pod", namespace=environment.namespace, labels=label)
    return [pod for pod in pods if _marks(pod["metadata"]) == wanted]


def _marks(metadata: Manifest) -> tuple[str, str]:
    notes = metadata.get("annotations") or {}
    return notes.get(RELEASE_ANNOTATION, ""), notes.get(SECRETS_CHECKSUM_ANNOTATION, "")
