"""The look at the whole fleet: one list call per kind, then everything is worked out here."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.delivery import fleet
from apps.delivery.comparison import diff_lines
from apps.delivery.desired import desired_objects
from apps.delivery.kube.cluster import Cluster
from apps.delivery.kube.errors import AccessDenied, ClusterUnreachable, ObjectMissing
from apps.delivery.manifests.metadata import (
    MANAGED_BY_LABEL,
    MANAGER,
    SECRETS_CHECKSUM_ANNOTATION,
)
from apps.delivery.models import ClusterStatus, Environment, EnvironmentStatus, Release
from apps.delivery.rollout_queries import current_releases

_ROW = 1
_REASON_LENGTH = 500
_MAX_DRIFT_LINES = 200
Object = Mapping[str, Any]


def refresh_fleet(cluster: Cluster, *, now: datetime) -> int:
    """Look at all environments that have a release; how many were seen.

    An unreachable cluster is noted and raises nothing: the last known state stays, with its age.
    """
    try:
        version, live = cluster.version(), _live_objects(cluster)
    except (ClusterUnreachable, AccessDenied, ObjectMissing) as trouble:
        note_unreachable(trouble.message, now=now)
        return 0
    states = _states(live)
    _store(states, now=now)
    values = {"is_reachable": True, "version": version, "message": ""}
    times = {"checked_at": now, "answered_at": now}
    ClusterStatus.objects.update_or_create(pk=_ROW, defaults=values | times)
    return len(states)


def note_unreachable(message: str, *, now: datetime) -> None:
    """Remember that the cluster did not answer, and since when."""
    values = {"is_reachable": False, "message": message[:_REASON_LENGTH], "checked_at": now}
    ClusterStatus.objects.update_or_create(pk=_ROW, defaults=values)


def _live_objects(cluster: Cluster) -> dict[str, list[Object]]:
    """All objects that Pombo manages, by namespace: one list for each kind."""
    selector = f"{MANAGED_BY_LABEL}={MANAGER}"
    kinds = fleet.LISTED_KINDS
    listed = [each for kind in kinds for each in cluster.list_all(kind, labels=selector)]
    return fleet.by_namespace(listed)


def _states(live: Mapping[str, Sequence[Object]]) -> dict[int, fleet.EnvironmentState]:
    return {
        environment.pk: _state(environment, release, live.get(environment.namespace, ()))
        for environment, release in current_releases()
    }


def _state(
    environment: Environment, release: Release, live: Sequence[Object]
) -> fleet.EnvironmentState:
    """The checksum of the secrets is taken from the Deployment: no secret is listed for this."""
    deployment = next((each for each in live if each["kind"] == "Deployment"), None)
    template = deployment["spec"]["template"]["metadata"] if deployment else {}
    checksum = (template.get("annotations") or {}).get(SECRETS_CHECKSUM_ANNOTATION, "")
    desired = desired_objects(environment, release, secrets_checksum=checksum)
    return fleet.state_of(desired, live)


@transaction.atomic
def _store(states: Mapping[int, fleet.EnvironmentState], *, now: datetime) -> None:
    rows = [_row(pk, state, now) for pk, state in states.items()]
    columns = [f.name for f in EnvironmentStatus._meta.fields if not f.primary_key]
    EnvironmentStatus.objects.bulk_create(
        rows,
        update_conflicts=True,
        update_fields=columns,
        batch_size=200,
        **_conflict_target(),
    )


def _conflict_target() -> dict[str, Any]:
    """MySQL finds the row that is in the way by itself and refuses to be told."""
    from django.db import connection  # noqa: PLC0415 - read at call time

    has_target = connection.features.supports_update_conflicts_with_target
    return {"unique_fields": ["environment"]} if has_target else {}


def _row(pk: int, state: fleet.EnvironmentState, now: datetime) -> EnvironmentStatus:
    lines = [str(line) for diff in state.drift for line in diff_lines(diff)]
    lines += [f"+ {key.short}: not part of the release" for key in state.strays]
    return EnvironmentStatus(
        environment_id=pk,
        health=state.health.value,
        reason=state.reason[:_REASON_LENGTH],
        replicas_available=state.replicas_available,
        replicas_wanted=state.replicas_wanted,
        has_drifted=state.has_drifted,
        drift=lines[:_MAX_DRIFT_LINES],
        checked_at=now,
    )
