"""The cluster that apps are delivered to."""

from typing import Any

from apps.common import env

env.section("Delivery")
DELIVERY_PLATFORM_DOMAINS = env.env_list(
    "DELIVERY_PLATFORM_DOMAINS",
    ["apps.localhost"],
    help="Domains whose hosts the platform gives out; no customer may bring one of them.",
)
# By the names that `apps.delivery.infra` reads.
DELIVERY_INFRA: dict[str, Any] = {
    "INGRESS_CLASS": env.env_str(
        "INGRESS_CLASS", "nginx", help="Ingress class of every app; empty: the cluster's default."
    ),
    "INGRESS_NAMESPACE": env.env_str(
        "INGRESS_NAMESPACE", "ingress-nginx", help="Namespace of the ingress controller's pods."
    ),
    "DNS_NAMESPACE": env.env_str(
        "DNS_NAMESPACE", "kube-system", help="Namespace of the cluster's DNS."
    ),
    "REGISTRY_PULL_SECRET_NAME": env.env_str(
        "REGISTRY_PULL_SECRET_NAME", "ghcr-oon", help="Name of the registry's pull secret."
    ),
    "PLATFORM_CLUSTER_ISSUER": env.env_str(
        "PLATFORM_CLUSTER_ISSUER",
        "",
        help="cert-manager issuer of platform hosts; empty: the ingress controller's certificate.",
    ),
    "CUSTOM_DOMAIN_CLUSTER_ISSUER": env.env_str(
        "CUSTOM_DOMAIN_CLUSTER_ISSUER",
        "letsencrypt-production-http01",
        help="cert-manager issuer of custom domains.",
    ),
    "INFRA_SCHEMA_VERSION": env.env_str(
        "INFRA_SCHEMA_VERSION", "1", help="Version of the infrastructure that deployments report."
    ),
    "KUBERNETES_VERSION": env.env_str(
        "KUBERNETES_VERSION", "1.34", help="Version of the cluster; schemas and features follow it."
    ),
}
