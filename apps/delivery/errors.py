"""What delivery refuses, one class per case.

InvalidInput ── DeliveryContextError   a field of a context breaks a rule
             ── InvalidQuantity        text that is no Kubernetes quantity
             ── InvalidMongoUri        a connection string that no app should get
             ── InvalidPullSecret      registry credentials that no kubelet can read
Conflict     ── CoreSecretsLost        the app's key is gone and must not be made anew
"""

from typing import Any

from apps.common.errors import Conflict, InvalidInput

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


class CoreSecretsLost(Conflict):
    """The app had a secrets key and it is gone; a new one would orphan what it encrypted."""

    code = "core_secrets_lost"
