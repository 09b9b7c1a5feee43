"""The cluster of this process: one client, made from the settings when it is first needed."""

import functools
import os
from pathlib import Path

from django.conf import settings

from apps.delivery.errors import ClusterNotConfigured
from apps.delivery.kube.client import ClusterConfig, KubeClient
from apps.delivery.kube.cluster import Cluster

_POD_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount/token")


def shared_cluster() -> Cluster:
    """The one cluster. Raises ClusterNotConfigured when the settings name none."""
    if not is_configured():
        raise ClusterNotConfigured(
            "No cluster is configured: set KUBE_URL or KUBECONFIG, or run inside a cluster."
        )
    return _cluster_for(_config(), os.getpid())


def is_configured() -> bool:
    """Whether the settings, or the pod that this process runs in, name a cluster."""
    return bool(settings.KUBE_URL or settings.KUBECONFIG or _POD_ACCOUNT.exists())


def _config() -> ClusterConfig:
    return ClusterConfig(
        url=settings.KUBE_URL,
        token=settings.KUBE_TOKEN,
        ca_file=settings.KUBE_CA_FILE,
        kubeconfig=settings.KUBECONFIG,
        context=settings.KUBE_CONTEXT,
        read_seconds=15.0,
        max_attempts=5,
    )


@functools.lru_cache(maxsize=1)
def _cluster_for(config: ClusterConfig, _pid: int) -> Cluster:
    """Keyed by the process: connections must not be shared across a fork."""
    return Cluster(KubeClient(config))
