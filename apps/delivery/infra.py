"""What the cluster offers to every app: classes, issuers, namespaces, and its version.

Callers hand it over as a mapping with the names of the environment variables, or as an `Infra`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from apps.delivery.errors import DeliveryContextError

_VERSION: Final = re.compile(r"v?([0-9]{1,3})\.([0-9]{1,3})(?:[.+-].*)?")
# Older clusters know neither matchLabelKeys nor unhealthyPodEvictionPolicy.
OLDEST_VERSION: Final = (1, 27)
# KEP-3960: the sleep action of lifecycle hooks is on by default since this version.
_NATIVE_SLEEP_VERSION: Final = (1, 30)


@dataclass(frozen=True, slots=True)
class Infra:
    """The cluster's side of a delivery. Empty names mean: leave the choice to the cluster."""

    ingress_class: str = "nginx"
    ingress_namespace: str = "ingress-nginx"
    dns_namespace: str = "kube-system"
    registry_pull_secret_name: str = "ghcr-oon"  # noqa: S105 - the name of a Secret object
    platform_cluster_issuer: str = ""
    custom_domain_cluster_issuer: str = "letsencrypt-production-http01"
    infra_schema_version: int | str = 1
    kubernetes_version: str = "1.34"

    def __post_init__(self) -> None:
        if self.version < OLDEST_VERSION:
            problem = "must be 1.27 or newer"
            raise DeliveryContextError("KUBERNETES_VERSION", problem, value=self.kubernetes_version)

    @property
    def has_native_sleep(self) -> bool:
        """True where preStop can sleep without a program of that name in the image."""
        return self.version >= _NATIVE_SLEEP_VERSION

    @property
    def version(self) -> tuple[int, int]:
        """Major and minor version of the cluster."""
        match = _VERSION.fullmatch(self.kubernetes_version)
        if match is None:
            problem = "write the cluster's version as 1.34 or v1.34.2"
            raise DeliveryContextError("KUBERNETES_VERSION", problem, value=self.kubernetes_version)
        return int(match[1]), int(match[2])


def as_infra(source: "Infra | Mapping[str, Any] | object") -> Infra:
    """Read the upper-case names from a mapping or a settings object.

    Missing and None mean the default; other names are left alone. Raises DeliveryContextError.
    """
    if isinstance(source, Infra):
        return source
    values = {
        field.name: source.get(field.name.upper())
        if isinstance(source, Mapping)
        else getattr(source, field.name.upper(), None)
        for field in fields(Infra)
    }
    for name, value in values.items():
        if value is not None and not isinstance(value, str) and name != "infra_schema_version":
            raise DeliveryContextError(name.upper(), "must be text", value=value)
    return Infra(**{name: value for name, value in values.items() if value is not None})
