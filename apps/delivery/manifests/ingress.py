"""How HTTP reaches an app's Service under one host name."""

from collections.abc import Mapping

from apps.delivery.context import DeliveryContext
from apps.delivery.infra import Infra
from apps.delivery.manifests.metadata import CLUSTER_ISSUER_ANNOTATION, Manifest, namespaced


def platform_ingress(context: DeliveryContext, infra: Infra) -> Manifest:
    """The Ingress of the platform's host.

    Without an issuer the ingress controller shows its own (wildcard) certificate.
    """
    tls: Manifest = {"hosts": [context.hostname]}
    annotations = {}
    if infra.platform_cluster_issuer:
        tls["secretName"] = f"{context.app_code}-tls"
        annotations[CLUSTER_ISSUER_ANNOTATION] = infra.platform_cluster_issuer
    return ingress(
        context,
        infra,
        name=context.app_code,
        host=context.hostname,
        tls=tls,
        annotations=annotations,
    )


def ingress(
    context: DeliveryContext,
    infra: Infra,
    *,
    name: str,
    host: str,
    tls: Manifest,
    annotations: Mapping[str, str],
) -> Manifest:
    """All paths of one host to the app's Service."""
    backend = {"service": {"name": context.app_code, "port": {"name": "http"}}}
    spec: Manifest = {
        "tls": [tls],
        "rules": [
            {
                "host": host,
                "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]},
            }
        ],
    }
    if infra.ingress_class:
        spec["ingressClassName"] = infra.ingress_class
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": namespaced(name, context, annotations=annotations),
        "spec": spec,
    }
