"""What must be true of the cluster before anything is deployed to it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from apps.common.errors import DomainError
from apps.delivery.fleet import LISTED_KINDS
from apps.delivery.kube.cluster import Cluster

_PROBE_NAMESPACE = "pombo-doctor"


@dataclass(frozen=True, slots=True)
class Finding:
    """One question to the cluster and its answer."""

    name: str
    is_fine: bool
    message: str


def examine(cluster: Cluster) -> list[Finding]:
    """Ask the cluster everything that deployments will ask of it; nothing is changed."""
    reached = _ask("cluster answers", cluster.version)
    if not reached.is_fine:
        return [reached]
    readable = [_ask(f"may list {kind}", partial(_count, cluster, kind)) for kind in LISTED_KINDS]
    return [reached, *readable, _ask("may apply (dry run)", partial(_try_apply, cluster))]


def _ask(name: str, question: Callable[[], str]) -> Finding:
    try:
        return Finding(name, is_fine=True, message=question())
    except DomainError as refusal:
        return Finding(name, is_fine=False, message=refusal.message)


def _count(cluster: Cluster, kind: str) -> str:
    return str(len(cluster.list_all(kind)))


def _try_apply(cluster: Cluster) -> str:
    wanted = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _PROBE_NAMESPACE}}
    cluster.apply(wanted, is_dry_run=True)
    return "server-side apply works"
