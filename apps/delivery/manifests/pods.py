"""The pod template: one hardened container with probes, a graceful end and room to write."""

from typing import Final

from apps.delivery.context import SECRETS_CAPABILITY, DeliveryContext
from apps.delivery.infra import Infra
from apps.delivery.manifests.metadata import (
    CORE_SECRETS_NAME,
    RELEASE_ANNOTATION,
    RELEASE_LABEL,
    RUNTIME_SECRET_NAME,
    SECRETS_CHECKSUM_ANNOTATION,
    SERVICE_ACCOUNT_NAME,
    Manifest,
    membership_labels,
    selector_labels,
)
from apps.delivery.manifests.network import HTTP_CONTAINER_PORT
from apps.delivery.names import kubernetes_label_value
from apps.delivery.profiles import RESOURCE_PROFILES
from apps.delivery.shutdown import (
    PRE_STOP_SECONDS,
    PRE_STOP_VARIABLE,
    TERMINATION_GRACE_SECONDS,
    TERMINATION_GRACE_VARIABLE,
)

CONTAINER_NAME: Final = "central"
READINESS_PATH: Final = "/api/health/ready"
SECRETS_KEY: Final = "OON_SECRETS_KEY"
PERFORMANCE_MODE_VARIABLE: Final = "OON_DB_PERFORMANCE_MODE"
TEMPORARY_VOLUME_SIZE: Final = "256Mi"
# Together the longest first start of an app: five minutes.
STARTUP_PERIOD_SECONDS: Final = 5
STARTUP_FAILURES: Final = 60


def pod_template(context: DeliveryContext, infra: Infra, image_ref: str) -> Manifest:
    """What each replica looks like; a new release or new secrets change it, nothing else does."""
    annotations = {RELEASE_ANNOTATION: context.release_id}
    if context.secrets_checksum:
        annotations[SECRETS_CHECKSUM_ANNOTATION] = context.secrets_checksum
    release = {RELEASE_LABEL: kubernetes_label_value(context.release_id)}
    return {
        "metadata": {
            "labels": membership_labels(context.app_code) | release,
            "annotations": annotations,
        },
        "spec": {
            "serviceAccountName": SERVICE_ACCOUNT_NAME,
            "automountServiceAccountToken": False,
            # Otherwise a neighbour's Service sets variables such as LOJA_PORT in our container.
            "enableServiceLinks": False,
            "terminationGracePeriodSeconds": TERMINATION_GRACE_SECONDS,
            "securityContext": _pod_security(context),
            "topologySpreadConstraints": [_spread(context)],
            "imagePullSecrets": [{"name": infra.registry_pull_secret_name}],
            "containers": [_container(context, infra, image_ref)],
            "volumes": [
                {"name": name, "emptyDir": {"sizeLimit": TEMPORARY_VOLUME_SIZE}}
                for name in _volume_names(context)
            ],
        },
    }


def _spread(context: DeliveryContext) -> Manifest:
    """Replicas of one revision on different nodes; the hash keeps the old revision out of it."""
    return {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": selector_labels(context.app_code)},
        "matchLabelKeys": ["pod-template-hash"],
    }


def _pod_security(context: DeliveryContext) -> Manifest:
    """The user of all containers, and the system calls they may use."""
    security: Manifest = {"seccompProfile": {"type": "RuntimeDefault"}}
    if context.run_as_user is not None:
        security |= {"runAsUser": context.run_as_user, "runAsNonRoot": True}
    return security


def _container_security(context: DeliveryContext) -> Manifest:
    """Adopted images may start as root and need its capabilities; nothing may gain more."""
    security: Manifest = {"allowPrivilegeEscalation": False}
    if context.pod_security == "restricted":
        security |= {"readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
    return security


def _container(context: DeliveryContext, infra: Infra, image_ref: str) -> Manifest:
    """The app's one container."""
    return {
        "name": CONTAINER_NAME,
        "image": image_ref,
        "imagePullPolicy": "IfNotPresent",
        "ports": [{"name": "http", "containerPort": HTTP_CONTAINER_PORT}],
        "envFrom": [{"secretRef": {"name": RUNTIME_SECRET_NAME}}],
        "env": _environment(context),
        "resources": RESOURCE_PROFILES[context.resource_profile].resources(),
        **_probes(context),
        "lifecycle": {"preStop": _pre_stop(infra)},
        "securityContext": _container_security(context),
        "volumeMounts": [
            {"name": name, "mountPath": path}
            for name, path in zip(_volume_names(context), context.writable_paths, strict=True)
        ],
    }


def _environment(context: DeliveryContext) -> list[Manifest]:
    """What the runtime must know beside its secret, including the pod's figures for its end."""
    variables: list[Manifest] = [
        {"name": PERFORMANCE_MODE_VARIABLE, "value": context.performance_mode},
        {"name": PRE_STOP_VARIABLE, "value": str(PRE_STOP_SECONDS)},
        {"name": TERMINATION_GRACE_VARIABLE, "value": str(TERMINATION_GRACE_SECONDS)},
    ]
    if context.has_capability(SECRETS_CAPABILITY):
        # Optional, so that the app also starts before it has its first secret.
        reference = {"name": CORE_SECRETS_NAME, "key": SECRETS_KEY, "optional": True}
        variables.append({"name": SECRETS_KEY, "valueFrom": {"secretKeyRef": reference}})
    return variables


def _probes(context: DeliveryContext) -> Manifest:
    """Ready means: may get requests. Alive must not depend on the database.

    Otherwise an outage of the database would restart every app, and again when it is back.
    """
    if context.liveness_path:
        alive: Manifest = {"httpGet": {"path": context.liveness_path, "port": "http"}}
    else:
        alive = {"tcpSocket": {"port": "http"}}
    startup = {"periodSeconds": STARTUP_PERIOD_SECONDS, "failureThreshold": STARTUP_FAILURES}
    return {
        "startupProbe": alive | startup,
        "livenessProbe": alive | {"periodSeconds": 20, "timeoutSeconds": 5},
        "readinessProbe": {
            "httpGet": {"path": READINESS_PATH, "port": "http"},
            "initialDelaySeconds": 10,
            "timeoutSeconds": 5,
        },
    }


def _pre_stop(infra: Infra) -> Manifest:
    """Wait until the ingress has taken the pod out of its list, before SIGTERM."""
    if infra.has_native_sleep:
        return {"sleep": {"seconds": PRE_STOP_SECONDS}}
    return {"exec": {"command": ["sleep", str(PRE_STOP_SECONDS)]}}


def _volume_names(context: DeliveryContext) -> list[str]:
    """One volume per writable folder."""
    return [f"temporary-{place}" for place in range(len(context.writable_paths))]
