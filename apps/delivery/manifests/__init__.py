"""What an app becomes on Kubernetes: pure functions from a context to lists of plain dicts.

Objects are dicts that become JSON, never text templates. Neither a Kubernetes client nor Django is
loaded here.
"""

from apps.delivery.manifests.baseline import baseline
from apps.delivery.manifests.domains import (
    custom_domain_ingresses,
    custom_domain_name,
    custom_domain_secret_name,
)
from apps.delivery.manifests.metadata import membership_labels
from apps.delivery.manifests.quota import namespace_quota, quota_headroom
from apps.delivery.manifests.runtime import runtime

__all__ = [
    "baseline",
    "custom_domain_ingresses",
    "custom_domain_name",
    "custom_domain_secret_name",
    "membership_labels",
    "namespace_quota",
    "quota_headroom",
    "runtime",
]
