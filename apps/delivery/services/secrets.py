"""The calls of the secrets contract: what pods mount exists, and is made exactly once.

Values are read from and written to the cluster alone; none is kept in a table, a log, a plan or an
event. The rules are in `apps.delivery.secrets`.
"""

from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.utils.crypto import salted_hmac

from apps.delivery.context import SECRETS_CAPABILITY, DeliveryContext
from apps.delivery.kube.cluster import Cluster
from apps.delivery.kube.errors import ObjectExists
from apps.delivery.kube.resources import ObjectKey
from apps.delivery.manifests.metadata import CORE_SECRETS_NAME, RUNTIME_SECRET_NAME
from apps.delivery.manifests.pods import SECRETS_KEY
from apps.delivery.secrets import (
    CORE_SECRETS_MARK,
    CoreSecretsStep,
    core_secrets_step,
    pull_secret_copy,
    random_secret,
    secret_manifest,
    secrets_checksum,
)

Manifest = dict[str, Any]
DATABASE_URI = "MONGODB_URI"
SESSION_SECRET = "OON_SESSION_SECRET"  # noqa: S105 - the name of a variable


def live_checksum(cluster: Cluster, namespace: str) -> str:
    """The checksum of the runtime secret in the cluster; empty while there is none.

    It stands in the pod template, so a changed value restarts the pods and an equal one does not.
    """
    live = cluster.get(ObjectKey("Secret", namespace, RUNTIME_SECRET_NAME))
    return _checksum(namespace, live) if live else ""


def ensure_secrets(
    cluster: Cluster,
    context: DeliveryContext,
    *,
    keep: Callable[[], None],
    provision: Callable[[], str] | None = None,
) -> str:
    """Make what is missing and leave what is there; the checksum of the runtime secret.

    `keep` renews the caller's lease; `provision` makes a database and gives its address, for apps
    that have none yet. Raises CoreSecretsLost, InvalidPullSecret, ClusterUnreachable,
    DatabaseUnreachable, and ObjectMissing when the namespace is not there.
    """
    keep()
    runtime = _ensure(cluster, context, RUNTIME_SECRET_NAME, {SESSION_SECRET: random_secret()})
    if provision is not None and DATABASE_URI not in (runtime.get("data") or {}):
        runtime = set_runtime_values(cluster, context, {DATABASE_URI: provision()})
    if context.has_capability(SECRETS_CAPABILITY):
        keep()
        _ensure_core_secrets(cluster, context)
    keep()
    _copy_pull_secret(cluster, context)
    return _checksum(context.namespace, runtime)


def set_runtime_values(
    cluster: Cluster, context: DeliveryContext, values: Mapping[str, str]
) -> Manifest:
    """Set values of the runtime secret; the others stay. The next deployment restarts the pods.

    Raises ClusterUnreachable, ObjectMissing.
    """
    _ensure(cluster, context, RUNTIME_SECRET_NAME, {SESSION_SECRET: random_secret()})
    changed = secret_manifest(
        RUNTIME_SECRET_NAME,
        namespace=context.namespace,
        app_code=context.app_code,
        values=values,
    )
    key = ObjectKey("Secret", context.namespace, RUNTIME_SECRET_NAME)
    return cluster.merge(key, {"data": changed["data"]})


def _ensure_core_secrets(cluster: Cluster, context: DeliveryContext) -> None:
    """The app's own key: made once, and never again under the mark on the namespace."""
    home = ObjectKey("Namespace", "", context.namespace)
    namespace = cluster.get(home) or {"metadata": {}}
    marks = namespace["metadata"].get("annotations") or {}
    key = ObjectKey("Secret", context.namespace, CORE_SECRETS_NAME)
    has_secret = cluster.get(key) is not None
    step = core_secrets_step(has_secret=has_secret, is_marked=CORE_SECRETS_MARK in marks)
    if step is CoreSecretsStep.CREATE:
        _ensure(cluster, context, CORE_SECRETS_NAME, {SECRETS_KEY: random_secret()})
    if step is not CoreSecretsStep.KEEP:
        cluster.merge(home, {"metadata": {"annotations": {CORE_SECRETS_MARK: "true"}}})


def _ensure(
    cluster: Cluster, context: DeliveryContext, name: str, values: Mapping[str, str]
) -> Manifest:
    """The secret as it is; made when missing. Of two makers one wins and both read its values."""
    key = ObjectKey("Secret", context.namespace, name)
    live = cluster.get(key)
    if live is not None:
        return live
    wanted = secret_manifest(
        name, namespace=context.namespace, app_code=context.app_code, values=values
    )
    try:
        return cluster.create(wanted)
    except ObjectExists:
        return cluster.get(key) or wanted


def _copy_pull_secret(cluster: Cluster, context: DeliveryContext) -> None:
    """The registry's credentials, as they stand in their own namespace now."""
    home = settings.DELIVERY_PULL_SECRET_NAMESPACE
    name = settings.DELIVERY_INFRA["REGISTRY_PULL_SECRET_NAME"]
    source = cluster.get(ObjectKey("Secret", home, name)) if home else None
    if source is not None:
        copy = pull_secret_copy(source, namespace=context.namespace, app_code=context.app_code)
        cluster.apply(copy, is_forced=True)


def _checksum(namespace: str, secret: Mapping[str, Any]) -> str:
    key = salted_hmac("pombo.delivery.secrets-checksum", namespace, algorithm="sha256").digest()
    return secrets_checksum(secret.get("data") or {}, key=key)
