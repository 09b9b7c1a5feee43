"""Who may call the endpoints of delivery."""

from apps.common.access import Access
from apps.common.scopes import Scope


def read_access(model: str) -> Access:
    """Who may read rows of a model."""
    return Access(scope=Scope.DELIVERY_READ, permission=f"delivery.view_{model}")


def write_access(model: str, verb: str) -> Access:
    """Who may add, change or delete rows of a model."""
    return Access(scope=Scope.DELIVERY_WRITE, permission=f"delivery.{verb}_{model}")
