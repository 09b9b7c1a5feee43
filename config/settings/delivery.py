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
KUBE_URL = env.env_str(
    "KUBE_URL", "", help="Address of the API server; empty: KUBECONFIG, else the pod's account."
)
KUBE_TOKEN = env.env_str("KUBE_TOKEN", "", help="Bearer token for KUBE_URL.", secret=True)
KUBE_CA_FILE = env.env_str("KUBE_CA_FILE", "", help="Certificate authority of KUBE_URL.")
KUBECONFIG = env.env_str("KUBECONFIG", "", help="Path of a kubeconfig file.")
KUBE_CONTEXT = env.env_str("KUBE_CONTEXT", "", help="Context of KUBECONFIG, if not its own.")
DELIVERY_PLAN_SECONDS = env.env_int(
    "DELIVERY_PLAN_SECONDS", 900, low=30, high=86_400, help="How long a plan can be confirmed."
)
DELIVERY_LEASE_SECONDS = env.env_int(
    "DELIVERY_LEASE_SECONDS",
    90,
    low=2,
    high=3600,
    help="After this without a sign of life another worker takes a deployment over.",
)
DELIVERY_ROLLBACK_SECONDS = env.env_int(
    "DELIVERY_ROLLBACK_SECONDS",
    600,
    low=5,
    high=7200,
    help="Time that a rollback has of its own to become healthy.",
)
DELIVERY_VERIFY_SECONDS = env.env_int(
    "DELIVERY_VERIFY_SECONDS", 120, low=1, high=1800, help="Time for the HTTP check of the host."
)
DELIVERY_HEALTH_URL = env.env_str(
    "DELIVERY_HEALTH_URL",
    "https://{hostname}/api/health/ready",
    help="Address that must answer 2xx after a rollout; empty: no check.",
)
DELIVERY_PULL_SECRET_NAMESPACE = env.env_str(
    "DELIVERY_PULL_SECRET_NAMESPACE",
    "",
    help="Namespace of the registry's pull secret, copied to every app; empty: not copied.",
)
DELIVERY_INGRESS_ADDRESSES = env.env_list(
    "DELIVERY_INGRESS_ADDRESSES",
    [],
    help="Addresses that custom domains must point to; empty: those of the app's platform host.",
)
DELIVERY_DNS_SERVERS = env.env_list(
    "DELIVERY_DNS_SERVERS", [], help="DNS servers (host or host:port); empty: the system's."
)
CENTRAL_URL = env.env_str(
    "CENTRAL_URL", "", help="Address of Central, which is told how deployments end; empty: none."
)
CENTRAL_SIGNING_SECRET = env.env_str(
    "CENTRAL_SIGNING_SECRET",
    "",
    help="Signs calls to Central: base64, as Standard Webhooks have it.",
    secret=True,
)
APPS_MONGODB_URI = env.env_str(
    "APPS_MONGODB_URI",
    "",
    help="Administrator's address of the MongoDB server that apps get databases from.",
    secret=True,
)
USAGE_CURRENCY = env.env_str(
    "USAGE_CURRENCY", "BRL", help="Currency of the prices in plans, shown beside amounts."
)
USAGE_CHECK_SECONDS = env.env_int(
    "USAGE_CHECK_SECONDS",
    5,
    low=1,
    high=300,
    help="Age that the figures of the usage check may have; reservations are always exact.",
)
USAGE_KEEP_DAYS = env.env_int(
    "USAGE_KEEP_DAYS",
    400,
    low=40,
    high=3650,
    help="Age at which single usage events of settled periods are deleted; counters stay.",
)
USAGE_HOLD_SECONDS = env.env_int(
    "USAGE_HOLD_SECONDS",
    300,
    low=1,
    high=86_400,
    help="How long a reservation of usage holds when the app does not say.",
)
PROCESS_JOB_LEASE_SECONDS = env.env_int(
    "PROCESS_JOB_LEASE_SECONDS",
    60,
    low=3,
    high=3600,
    help="Life of a process job's claim without a renewal; node workers use 60.",
)
PROCESS_JOBS_OVERDUE_SECONDS = env.env_int(
    "PROCESS_JOBS_OVERDUE_SECONDS",
    600,
    low=10,
    high=86_400,
    help="Age of the oldest due process job from which the platform is not ready.",
)
PROCESS_JOB_ALLOWED_NETWORKS = env.env_list(
    "PROCESS_JOB_ALLOWED_NETWORKS",
    [],
    help="Networks (CIDR) where apps may be called to recalculate though private or without TLS.",
)
SHARED_FILES_MAX_BYTES = env.env_int(
    "SHARED_FILES_MAX_BYTES",
    100 * 1024**2,
    low=1,
    high=16 * 1024**3,
    help="Largest shared file.",
)
SHARED_FILES_QUOTA_BYTES = env.env_int(
    "SHARED_FILES_QUOTA_BYTES",
    1024**3,
    low=1,
    high=1024**5,
    help="Room for the shared files of one app, all versions together.",
)
SHARED_FILES_UPLOAD_SECONDS = env.env_int(
    "SHARED_FILES_UPLOAD_SECONDS",
    3600,
    low=1,
    high=86_400,
    help="Longest upload; what is older and has no file is swept.",
)
