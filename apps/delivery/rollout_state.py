"""The life of a deployment, and what the cluster's objects say about it; pure.

The states and their moves, whether a rollout is complete, why it is not, and when to give up. The
reading follows recordings of Kubernetes 1.36: right after an apply a Deployment still shows the
finished status of the release before, and the reason of a failure stands in the pods (or, for
quota, policy and accounts, in the condition ReplicaFailure) long before the Deployment itself
admits it at its deadline.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

Object = Mapping[str, Any]


class Phase(StrEnum):
    """Where a deployment stands."""

    QUEUED = "queued"
    PLANNED = "planned"
    APPLYING = "applying"
    PROGRESSING = "progressing"
    VERIFYING = "verifying"
    ROLLING_BACK = "rolling_back"
    SUCCEEDED = "succeeded"
    ROLLED_BACK = "rolled_back"
    FAILED = "failed"
    CANCELLED = "cancelled"


FINAL_PHASES: Final = frozenset({Phase.SUCCEEDED, Phase.ROLLED_BACK, Phase.FAILED, Phase.CANCELLED})
OPEN_PHASES: Final = frozenset(Phase) - FINAL_PHASES
# A change to the cluster may be half done in these, so only a rollback leads out.
TOUCHED_PHASES: Final = frozenset({Phase.APPLYING, Phase.PROGRESSING, Phase.VERIFYING})

_MOVES: Final[Mapping[Phase, frozenset[Phase]]] = {
    Phase.QUEUED: frozenset({Phase.PLANNED, Phase.CANCELLED, Phase.FAILED}),
    Phase.PLANNED: frozenset({Phase.APPLYING, Phase.CANCELLED, Phase.FAILED}),
    Phase.APPLYING: frozenset({Phase.PROGRESSING, Phase.ROLLING_BACK, Phase.FAILED}),
    Phase.PROGRESSING: frozenset({Phase.VERIFYING, Phase.ROLLING_BACK, Phase.FAILED}),
    Phase.VERIFYING: frozenset({Phase.SUCCEEDED, Phase.ROLLING_BACK, Phase.FAILED}),
    Phase.ROLLING_BACK: frozenset({Phase.ROLLED_BACK, Phase.FAILED}),
}


def can_move(current: Phase, target: Phase) -> bool:
    """Whether a deployment may go from one phase to the other."""
    return target in _MOVES.get(current, frozenset())


class ReasonCode(StrEnum):
    """Why a rollout does not get on."""

    QUOTA = "quota"
    POD_SECURITY = "pod_security"
    ADMISSION = "admission"
    MISSING_ACCOUNT = "missing_account"
    MISSING_SECRET = "missing_secret"  # noqa: S105 - a reason, not a secret
    CONTAINER_CONFIG = "container_config"
    IMAGE_PULL = "image_pull"
    CRASH_LOOP = "crash_loop"
    UNSCHEDULABLE = "unschedulable"
    NOT_READY = "not_ready"
    PAUSED = "paused"
    DEADLINE = "deadline"


# How long a reason may last before it counts as hopeless. None: only the deadline ends it, since
# slow starts look the same. Quota frees itself when old pods end; registries and nodes recover.
PATIENCE: Final[Mapping[ReasonCode, timedelta | None]] = {
    ReasonCode.QUOTA: timedelta(seconds=90),
    ReasonCode.POD_SECURITY: timedelta(0),
    ReasonCode.ADMISSION: timedelta(seconds=60),
    ReasonCode.MISSING_ACCOUNT: timedelta(seconds=30),
    ReasonCode.MISSING_SECRET: timedelta(seconds=30),
    ReasonCode.CONTAINER_CONFIG: timedelta(seconds=30),
    ReasonCode.IMAGE_PULL: timedelta(seconds=60),
    ReasonCode.CRASH_LOOP: timedelta(seconds=60),
    ReasonCode.UNSCHEDULABLE: timedelta(seconds=300),
    ReasonCode.NOT_READY: None,
    ReasonCode.PAUSED: None,
    ReasonCode.DEADLINE: timedelta(0),
}
# Crashes so often that the next one is certain: no patience.
_HOPELESS_RESTARTS: Final = 3
_IMAGE_WAITS: Final = frozenset(
    {"ImagePullBackOff", "ErrImagePull", "ErrImageNeverPull", "ImageInspectError"}
)
_NEVER_PULLED: Final = "InvalidImageName"
_MISSING_OBJECT: Final = re.compile(r'(secret|configmap) "[^"]+" not found')
_MESSAGE_LENGTH: Final = 500


@dataclass(frozen=True, slots=True)
class Reason:
    """One cause of a stalled rollout, as the cluster words it."""

    code: ReasonCode
    message: str
    since: datetime | None = None
    is_certain: bool = False

    def as_json(self) -> dict[str, Any]:
        """The form in which a deployment keeps it."""
        since = self.since.isoformat() if self.since else None
        return {
            "code": self.code.value,
            "message": self.message,
            "since": since,
            "is_certain": self.is_certain,
        }


def reason_from_json(stored: Mapping[str, Any]) -> Reason:
    """The reason that `as_json` wrote."""
    since = datetime.fromisoformat(stored["since"]) if stored.get("since") else None
    return Reason(
        ReasonCode(stored["code"]), stored["message"], since, bool(stored.get("is_certain"))
    )


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a Deployment has come; counts are pods."""

    wanted: int
    updated: int
    available: int
    total: int
    is_observed: bool
    is_deadline_exceeded: bool

    @property
    def is_complete(self) -> bool:
        """Every wanted pod is of this release and available, and no other is left."""
        counts = {self.updated, self.available, self.total}
        return self.is_observed and counts == {self.wanted}

    @property
    def percent(self) -> int:
        """Share of the wanted pods that run this release; 0 while nothing is known."""
        if not self.is_observed:
            return 0
        if self.wanted == 0:
            return 100 if self.is_complete else 0
        return 100 * min(self.updated, self.available, self.wanted) // self.wanted


def read_progress(deployment: Object) -> Progress:
    """Counts and verdict of a live Deployment; absent counts are zero.

    Until the controller has observed the present generation the status is that of the release
    before, so nothing in it counts.
    """
    status = deployment.get("status") or {}
    is_observed = status.get("observedGeneration", 0) >= deployment["metadata"]["generation"]
    progressing = _condition(deployment, "Progressing")
    return Progress(
        wanted=deployment["spec"].get("replicas", 1),
        updated=status.get("updatedReplicas", 0) if is_observed else 0,
        available=status.get("availableReplicas", 0) if is_observed else 0,
        total=status.get("replicas", 0),
        is_observed=is_observed,
        is_deadline_exceeded=is_observed
        and progressing.get("reason") == "ProgressDeadlineExceeded",
    )


def find_reasons(deployment: Object, pods: Iterable[Object]) -> list[Reason]:
    """What keeps the rollout from completing: from the Deployment and the pods of its release.

    `pods` are those of the new release alone; a condition of the release before is not read.
    """
    progress = read_progress(deployment)
    if not progress.is_observed or progress.is_complete:
        return []
    found = [_refused_pods(deployment), _paused(deployment)]
    found += [reason_of_pod(pod) for pod in pods]
    if progress.is_deadline_exceeded:
        message = _condition(deployment, "Progressing").get("message", "")
        found.append(Reason(ReasonCode.DEADLINE, message))
    return _distinct(reason for reason in found if reason is not None)


def reason_of_pod(pod: Object) -> Reason | None:
    """Why one pod does not serve; None when it does, or is only starting or ending."""
    if pod["metadata"].get("deletionTimestamp"):
        return None
    scheduled = _condition(pod, "PodScheduled")
    if scheduled.get("reason") == "Unschedulable":
        return _reason(ReasonCode.UNSCHEDULABLE, scheduled.get("message", ""))
    status = pod.get("status") or {}
    for container in [
        *status.get("initContainerStatuses", ()),
        *status.get("containerStatuses", ()),
    ]:
        if (reason := _container_reason(container)) is not None:
            return reason
    return None


def keep_since(before: Sequence[Reason], found: Sequence[Reason], *, now: datetime) -> list[Reason]:
    """The reasons found now, each with the time since which it has lasted without a break."""
    known = {reason.code: reason.since for reason in before}
    return [replace(reason, since=known.get(reason.code) or now) for reason in found]


def hopeless(reasons: Iterable[Reason], *, now: datetime) -> Reason | None:
    """The reason to give up for, most telling first; None while there is hope."""
    lost = [reason for reason in reasons if _is_lost(reason, now)]
    # The deadline only says that time is over; any other reason says why.
    causes = [r for r in reasons if r.code not in {ReasonCode.DEADLINE, ReasonCode.PAUSED}]
    if any(reason.code == ReasonCode.DEADLINE for reason in lost) and causes:
        return min(causes, key=_rank)
    return min(lost, key=_rank, default=None)


def _is_lost(reason: Reason, now: datetime) -> bool:
    patience = PATIENCE[reason.code]
    if patience is None:
        return False
    return reason.is_certain or reason.since is None or now - reason.since >= patience


def _rank(reason: Reason) -> int:
    return list(ReasonCode).index(reason.code)


def _reason(code: ReasonCode, message: str, *, is_certain: bool = False) -> Reason:
    return Reason(code, message[:_MESSAGE_LENGTH], is_certain=is_certain)


def _condition(subject: Object, kind: str) -> Mapping[str, Any]:
    conditions = (subject.get("status") or {}).get("conditions") or ()
    return next((c for c in conditions if c["type"] == kind), {})


def _refused_pods(deployment: Object) -> Reason | None:
    failure = _condition(deployment, "ReplicaFailure")
    if failure.get("status") != "True":
        return None
    message = failure.get("message", "")
    if "exceeded quota" in message or "failed quota" in message:
        # A quota that a pod can never meet is worded "must specify".
        is_certain = "must specify" in message
        return _reason(ReasonCode.QUOTA, message, is_certain=is_certain)
    if "violates PodSecurity" in message:
        return _reason(ReasonCode.POD_SECURITY, message)
    if "service account" in message:
        return _reason(ReasonCode.MISSING_ACCOUNT, message)
    return _reason(ReasonCode.ADMISSION, message)


def _paused(deployment: Object) -> Reason | None:
    is_paused = deployment["spec"].get("paused")
    return _reason(ReasonCode.PAUSED, "The Deployment is paused there.") if is_paused else None


def _container_reason(container: Mapping[str, Any]) -> Reason | None:
    waiting = container.get("state", {}).get("waiting") or {}
    reason, message = waiting.get("reason", ""), waiting.get("message", "")
    label = f"{container['name']}: {message or reason}"
    if reason in _IMAGE_WAITS or reason == _NEVER_PULLED:
        return _reason(ReasonCode.IMAGE_PULL, label, is_certain=reason == _NEVER_PULLED)
    if reason == "CreateContainerConfigError":
        is_missing = _MISSING_OBJECT.search(message) is not None
        code = ReasonCode.MISSING_SECRET if is_missing else ReasonCode.CONTAINER_CONFIG
        return _reason(code, label)
    if reason == "CreateContainerError":
        return _reason(ReasonCode.CONTAINER_CONFIG, label)
    ended = container.get("lastState", {}).get("terminated") or {}
    if reason == "CrashLoopBackOff" or (ended and not container.get("ready")):
        return _crash(container, ended, reason)
    if "running" in container.get("state", {}) and not container.get("ready"):
        return _reason(ReasonCode.NOT_READY, f"{container['name']}: runs but is not ready")
    return None


def _crash(container: Mapping[str, Any], ended: Mapping[str, Any], waiting: str) -> Reason:
    count = container.get("restartCount", 0)
    told = f"exit code {ended['exitCode']}" if "exitCode" in ended else waiting
    cause = ended.get("reason", "")
    detail = f" ({cause})" if cause not in {"", "Error"} else ""
    message = f"{container['name']}: ended with {told}{detail}, {count} restarts"
    return _reason(ReasonCode.CRASH_LOOP, message, is_certain=count >= _HOPELESS_RESTARTS)


def _distinct(reasons: Iterable[Reason]) -> list[Reason]:
    """One reason for each code, the first one's words; the surest verdict wins."""
    kept: dict[ReasonCode, Reason] = {}
    for reason in reasons:
        known = kept.setdefault(reason.code, reason)
        if reason.is_certain and not known.is_certain:
            kept[reason.code] = reason
    return list(kept.values())
