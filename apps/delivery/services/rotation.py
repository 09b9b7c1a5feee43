"""New secrets for an environment, and the deployment that brings them to its pods."""

import logging
from datetime import datetime

from apps.delivery.choices import DeploymentKind
from apps.delivery.kube.cluster import Cluster
from apps.delivery.models import Deployment, Environment
from apps.delivery.queries import preview_context
from apps.delivery.secrets import random_secret
from apps.delivery.services.databases import provision_database
from apps.delivery.services.deployments import redeploy
from apps.delivery.services.secrets import DATABASE_URI, SESSION_SECRET, set_runtime_values

logger = logging.getLogger(__name__)


def rotate_secrets(
    environment: Environment,
    *,
    cluster: Cluster,
    has_database: bool,
    actor: str,
    now: datetime,
) -> Deployment | None:
    """A new session secret, and a new database password if wanted; then the pods restart.

    None when nothing runs yet or a waiting deployment will bring the values anyway. Pods that still
    hold an old database password lose their connection until they are replaced.
    Raises ClusterUnreachable, ObjectMissing, DatabaseUnreachable.
    """
    values = {SESSION_SECRET: random_secret()}
    if has_database:
        values[DATABASE_URI] = provision_database(environment)
    set_runtime_values(cluster, preview_context(environment), values)
    extra = {"namespace": environment.namespace, "actor": actor, "secrets": sorted(values)}
    logger.info("delivery.secrets_rotated", extra=extra)
    return redeploy(environment, kind=DeploymentKind.RESTART, actor=actor, now=now)
