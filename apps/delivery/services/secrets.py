"""The calls of the secrets contract: what pods mount exists, and is made exactly once.

Values are read from and written to the cluster alone; none is kept in a table, a log, a plan or an
event.
"""

import base64
import hashlib
import json
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings

from apps.delivery.context import SECRETS_CAPABILITY
from apps.delivery.errors import CoreSecretsLost
from apps.delivery.kube.cluster import Cluster
from apps.delivery.kube.errors import ObjectExists
from apps.delivery.kube.resources import ObjectKey
from apps.delivery.manifests.metadata import (
    CORE_SECRETS_NAME,
    RUNTIME_SECRET_NAME,
    membership_labels,
)
from apps.delivery.manifests.pods import SECRETS_KEY
from apps.delivery.models import Environment, Release

Manifest = dict[str, Any]
# Set on the namespace once the app's key was made: a key that is gone must not be made anew.
CORE_SECRETS_MARKER = "oon.dev/core-secrets-created"
SESSION_SECRET = "OON_SESSION_SECRET"  # noqa: S105 - the name of a variable
_KEY_BYTES = 32


def live_checksum(cluster: Cluster, namespace: str) -> str:
    """The checksum of the runtime secret in the cluster; empty while there is none.

    It stands in the pod template, so a changed value restarts the pods and an equal one does not.
    """
    live = cluster.get(ObjectKey("Secret", namespace, RUNTIME_SECRET_NAME))
    return checksum(live.get("data") or {}) if live else ""


def checksum(encoded: Mapping[str, str]) -> str:
    """A digest of a secret's values, as the cluster keeps them (base64)."""
    text = json.dumps(dict(encoded), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def ensure_secrets(
    cluster: Cluster, environment: Environment, release: Release, *, keep: Callable[[], None]
) -> str:
    """Make what is missing and leave what is there; the checksum of the runtime secret.

    Raises CoreSecretsLost, ClusterUnreachable, ObjectMissing when the namespace is not there.
    """
    keep()
    runtime = _ensure(cluster, environment, RUNTIME_SECRET_NAME, _new_runtime_values)
    if _has_core_secrets(release):
        _ensure_core_secrets(cluster, environment)
    keep()
    copy_pull_secret(cluster, environment)
    return checksum(runtime.get("data") or {})


def copy_pull_secret(cluster: Cluster, environment: Environment) -> None:
    """Give the namespace the registry's credentials, as they stand in their own namespace now."""
    home, name = settings.DELIVERY_PULL_SECRET_NAMESPACE, _pull_secret_name()
    if not home:
        return
    source = cluster.get(ObjectKey("Secret", home, name))
    if source is None:
        return
    wanted = _secret(environment, name) | {"type": source["type"], "data": source["data"]}
    cluster.apply(wanted, is_forced=True)


def _has_core_secrets(release: Release) -> bool:
    capability = (release.config.get("functional_capabilities") or {}).get(SECRETS_CAPABILITY)
    return isinstance(capability, dict) and bool(capability.get("enabled"))


def _ensure_core_secrets(cluster: Cluster, environment: Environment) -> None:
    """The app's own key: made once, and never again under the marker."""
    home = ObjectKey("Namespace", "", environment.namespace)
    key = ObjectKey("Secret", environment.namespace, CORE_SECRETS_NAME)
    namespace = cluster.get(home) or {}
    marks = namespace.get("metadata", {}).get("annotations") or {}
    if CORE_SECRETS_MARKER in marks:
        if cluster.get(key) is None:
            raise CoreSecretsLost(
                f"{CORE_SECRETS_NAME} of {environment.namespace} is gone; restore it from a "
                "backup. A new key could not read what the old one encrypted."
            )
        return
    _ensure(cluster, environment, CORE_SECRETS_NAME, lambda: {SECRETS_KEY: _random_key()})
    cluster.annotate(home, {CORE_SECRETS_MARKER: "true"})


def _ensure(
    cluster: Cluster,
    environment: Environment,
    name: str,
    values: Callable[[], Mapping[str, str]],
) -> Manifest:
    """The secret as it is; made when missing. Of two makers one wins and both read its values."""
    key = ObjectKey("Secret", environment.namespace, name)
    live = cluster.get(key)
    if live is not None:
        return live
    data = {k: base64.b64encode(v.encode()).decode() for k, v in values().items()}
    try:
        return cluster.create(_secret(environment, name) | {"type": "Opaque", "data": data})
    except ObjectExists:
        return cluster.get(key) or {}


def _secret(environment: Environment, name: str) -> Manifest:
    metadata = {
        "name": name,
        "namespace": environment.namespace,
        "labels": membership_labels(environment.app.code),
    }
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}


def _new_runtime_values() -> dict[str, str]:
    return {SESSION_SECRET: _random_key()}


def _random_key() -> str:
    return secrets.token_urlsafe(_KEY_BYTES)


def _pull_secret_name() -> str:
    name: str = settings.DELIVERY_INFRA["REGISTRY_PULL_SECRET_NAME"]
    return name
