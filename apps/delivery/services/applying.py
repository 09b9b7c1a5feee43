"""Putting a release into the cluster: objects in order, each once, then the leftovers."""

import logging
from functools import partial
from typing import Any

from django.conf import settings

from apps.delivery import planning
from apps.delivery.comparison import compare
from apps.delivery.desired import context_for, desired_objects, image_ref
from apps.delivery.kube.cluster import Cluster
from apps.delivery.kube.errors import ObjectChanged
from apps.delivery.kube.ownership import CLIENT_SIDE_MANAGERS, is_client_side
from apps.delivery.kube.resources import ObjectKey, key_of
from apps.delivery.manifests import baseline
from apps.delivery.models import Environment, Release
from apps.delivery.queries import current_infra
from apps.delivery.services.databases import is_configured, provision_database
from apps.delivery.services.leases import Hold
from apps.delivery.services.plans import live_members
from apps.delivery.services.secrets import ensure_secrets

logger = logging.getLogger(__name__)
Manifest = dict[str, Any]


def apply_release(
    hold: Hold, cluster: Cluster, release: Release, *, is_forced: bool, prefix: str = ""
) -> None:
    """Apply all objects of a release and prune what it no longer has.

    Steps that were taken before are not repeated; the one in doubt after a crash is compared with
    the cluster first, so an object is never written twice.
    Raises FieldConflict, ObjectRefused, AdmissionDenied, ClusterUnreachable, DeploymentLeaseLost.
    """
    environment = hold.deployment.environment
    context = context_for(environment, release)
    home, *_ = baseline(context, current_infra())
    _apply_once(hold, cluster, home, is_forced=is_forced, prefix=prefix)
    provision = partial(provision_database, environment) if is_configured() else None
    checksum = ensure_secrets(cluster, context, keep=hold.keep, provision=provision)
    wanted = desired_objects(environment, release, secrets_checksum=checksum)
    for each in planning.in_apply_order(wanted):
        hold.keep()
        _apply_once(hold, cluster, each, is_forced=is_forced, prefix=prefix)
    _prune(hold, cluster, wanted, prefix=prefix)


def facts_of(environment: Environment, release: Release) -> dict[str, str]:
    """What a deployment reports of itself once it is in the cluster."""
    return {
        "image_ref": image_ref(environment, release),
        "infra_version": str(settings.DELIVERY_INFRA["INFRA_SCHEMA_VERSION"]),
    }


def _apply_once(
    hold: Hold, cluster: Cluster, wanted: Manifest, *, is_forced: bool, prefix: str
) -> None:
    key = key_of(wanted)
    step = f"{prefix}apply {key.short}"
    if hold.has_noted(step):
        return
    _log(hold, step)
    live = cluster.get(key)
    if live is not None and is_client_side(live):
        live = cluster.take_over(live, CLIENT_SIDE_MANAGERS) or live
    if live is not None and not compare(wanted, live).needs_apply:
        hold.note(step, "unchanged")
        return
    cluster.apply(wanted, is_forced=is_forced)
    _log(hold, f"{step}: done")
    hold.note(step, "created" if live is None else "changed")


def _prune(hold: Hold, cluster: Cluster, wanted: list[Manifest], *, prefix: str) -> None:
    environment = hold.deployment.environment
    members = live_members(environment, cluster=cluster)
    for deletion in planning.to_prune(wanted, members, namespace=environment.namespace):
        hold.keep()
        _log(hold, f"{prefix}prune {deletion.key.short}")
        hold.note(
            f"{prefix}prune {deletion.key.short}", _delete(cluster, deletion.key, deletion.uid)
        )


def _delete(cluster: Cluster, key: ObjectKey, uid: str) -> str:
    try:
        return "deleted" if cluster.delete(key, uid=uid) else "was gone"
    except ObjectChanged:
        # Somebody made a new object of that name meanwhile; it is not the one we meant.
        return "left: it is another object now"


def _log(hold: Hold, step: str) -> None:
    logger.info("delivery.step", extra={"deployment_id": hold.deployment.pk, "step": step})
