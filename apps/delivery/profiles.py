"""What one replica of an app may use: the resource profiles and the performance modes.

The one source of both; quota, pods, policy and admin read it here. Whole thousandths of a core and
whole mebibytes, so that sums stay exact.
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from apps.delivery.quantities import cpu_quantity, memory_quantity

EPHEMERAL_STORAGE_REQUEST: Final = "128Mi"
EPHEMERAL_STORAGE_LIMIT: Final = "2Gi"


@dataclass(frozen=True, slots=True)
class ResourceProfile:
    """Requests and limits of one replica; `_milli` are thousandths of a core, `_mi` mebibytes."""

    cpu_request_milli: int
    memory_request_mi: int
    cpu_limit_milli: int
    memory_limit_mi: int

    def resources(self) -> dict[str, dict[str, str]]:
        """The `resources` of a container."""
        return {
            "requests": {**self.requests(), "ephemeral-storage": EPHEMERAL_STORAGE_REQUEST},
            "limits": {**self.limits(), "ephemeral-storage": EPHEMERAL_STORAGE_LIMIT},
        }

    def requests(self) -> dict[str, str]:
        """What the scheduler sets aside."""
        return {
            "cpu": cpu_quantity(self.cpu_request_milli),
            "memory": memory_quantity(self.memory_request_mi),
        }

    def limits(self) -> dict[str, str]:
        """What the kernel allows."""
        return {
            "cpu": cpu_quantity(self.cpu_limit_milli),
            "memory": memory_quantity(self.memory_limit_mi),
        }


RESOURCE_PROFILES: Final = MappingProxyType(
    {
        "small": ResourceProfile(100, 256, 500, 512),
        "medium": ResourceProfile(250, 512, 1000, 1024),
        "large": ResourceProfile(500, 1024, 2000, 2048),
    }
)
DEFAULT_PROFILE: Final = "small"

# Connections of the MongoDB pool in each mode; the app's runtime reads the mode by name.
MONGO_POOL_SIZES: Final = MappingProxyType({"min": 4, "normal": 8, "ultra": 16})
PERFORMANCE_MODES: Final = tuple(MONGO_POOL_SIZES)
DEFAULT_PERFORMANCE_MODE: Final = "min"
