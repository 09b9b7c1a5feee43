"""One Ingress and one certificate per custom domain, so that none can hold up another."""

from collections.abc import Mapping
from typing import Any, Final

from apps.delivery.context import DeliveryContext, as_context
from apps.delivery.infra import Infra, as_infra
from apps.delivery.manifests.ingress import ingress
from apps.delivery.manifests.metadata import CLUSTER_ISSUER_ANNOTATION, Manifest
from apps.delivery.names import MAX_LABEL_LENGTH, dns_label

_SECRET_END: Final = "-tls"  # noqa: S105 - how the name of a Secret object ends


def custom_domain_ingresses(
    context: Mapping[str, Any] | DeliveryContext, infra: Mapping[str, Any] | Infra
) -> list[Manifest]:
    """The ingresses of the app's own host names, in their order. Raises DeliveryContextError."""
    context, infra = as_context(context), as_infra(infra)
    return [_ingress(context, infra, host) for host in context.custom_domains]


def custom_domain_name(app_code: str, host: str) -> str:
    """What the Ingress of a custom domain is called: readable, and its own for each host."""
    return dns_label(f"{app_code}-custom-{host}", max_length=MAX_LABEL_LENGTH - len(_SECRET_END))


def custom_domain_secret_name(app_code: str, host: str) -> str:
    """The Secret in which cert-manager keeps the certificate of a custom domain."""
    return custom_domain_name(app_code, host) + _SECRET_END


def _ingress(context: DeliveryContext, infra: Infra, host: str) -> Manifest:
    """The Ingress of one domain, with a certificate that renews itself over HTTP-01."""
    return ingress(
        context,
        infra,
        name=custom_domain_name(context.app_code, host),
        host=host,
        tls={"hosts": [host], "secretName": custom_domain_secret_name(context.app_code, host)},
        annotations={CLUSTER_ISSUER_ANNOTATION: infra.custom_domain_cluster_issuer},
    )
