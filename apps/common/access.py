"""Who may call an API endpoint: each view says it, and what says nothing admits nobody.

A view declares `access`: for each action (viewsets) or HTTP method (plain views) an `Access`, or
one under `"*"` for all. A test walks all addresses and fails on a view without a declaration. This
module stands apart from `api.py` because DRF imports its default permission before its own views.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from apps.common.scopes import Scope


@dataclass(frozen=True, slots=True)
class Access:
    """Who may use one endpoint: a token with the scope, or a signed-in user with the permission.

    `person` admits a person signed in on the web pages, who has neither; what they may touch is
    decided by the service from their owner id. `public` admits everybody.
    """

    scope: Scope | None = None
    permission: str | None = None
    person: bool = False
    public: bool = False


PUBLIC = Access(public=True)


def declared_access(view: Any, method: str) -> Access | None:
    """The access that a view declares for its current action or the HTTP method."""
    access: Mapping[str, Access] = getattr(view, "access", {})
    action = getattr(view, "action", None)
    return access.get(action or method.lower()) or access.get("*")


class DeclaredAccess(BasePermission):
    """Admits the callers that the view declares; an undeclared endpoint admits nobody."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Check tokens by scope, staff by Django permission, people by being signed in."""
        access = declared_access(view, request.method or "")
        if access is None:
            return False
        if access.public:
            return True
        scopes = getattr(request.auth, "scopes", None)
        if scopes is not None:
            return access.scope is not None and access.scope in scopes
        if access.person and getattr(request.user, "owner_jid", None):
            return True
        return access.permission is not None and request.user.has_perm(access.permission)
