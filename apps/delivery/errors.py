"""What delivery refuses, one class per case.

InvalidInput ── DeliveryContextError   a field of a context breaks a rule
             ── InvalidQuantity        text that is no Kubernetes quantity
             ── InvalidMongoUri        a connection string that no app should get
             ── InvalidPullSecret      registry credentials that no kubelet can read
Conflict     ── CoreSecretsLost        the app's key is gone and must not be made anew
"""

from typing import Any

from apps.common.errors import Conflict, InvalidInput, LimitReached, NotFound

_SHOWN_CHARACTERS = 80


class DeliveryContextError(InvalidInput):
    """A field of the delivery context breaks a rule; `field` names it."""

    code = "invalid_delivery_context"

    def __init__(self, field: str, problem: str, *, value: Any = None) -> None:
        shown = repr(value)[:_SHOWN_CHARACTERS]
        super().__init__(f"{field}: {problem}", details={"field": field, "value": shown})
        self.field = field
        self.problem = problem


class InvalidQuantity(InvalidInput):
    """Text that the API server refuses as a resource quantity."""

    code = "invalid_quantity"


class InvalidMongoUri(InvalidInput):
    """A MongoDB connection string that no app should get; the message never repeats it."""

    code = "invalid_mongo_uri"


class InvalidPullSecret(InvalidInput):
    """Registry credentials that the kubelet could not read."""

    code = "invalid_pull_secret"


class NameNeverChanges(InvalidInput):
    """A code or namespace names objects in the cluster; a new one would leave them behind."""

    code = "name_never_changes"

    def __init__(self, field: str) -> None:
        super().__init__(f"{field} never changes.", details={"field": field})
        self.field = field


class NotOnPlatform(InvalidInput):
    """An environment's host must lie below a domain of the platform."""

    code = "not_on_platform"


class PlatformHost(InvalidInput):
    """The host lies below a domain of the platform, so no customer can bring it."""

    code = "platform_host"


class EnvironmentNotFound(NotFound):
    """No environment has this namespace."""

    code = "environment_not_found"


class DomainLimitReached(LimitReached):
    """The environment already has as many custom domains as it may have."""

    code = "domain_limit_reached"


class NameTaken(Conflict):
    """A code, namespace or host that another app has; `details` names the field."""

    code = "name_taken"

    def __init__(self, field: str, value: str) -> None:
        super().__init__(f"{field} {value!r} is taken.", details={"field": field, "value": value})
        self.field = field


class CoreSecretsLost(Conflict):
    """The app had a secrets key and it is gone; a new one would orphan what it encrypted."""

    code = "core_secrets_lost"
