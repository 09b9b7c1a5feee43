"""Who may call the endpoints of delivery."""

from django.contrib.auth.models import User
from rest_framework.request import Request

from apps.common.access import Access
from apps.common.scopes import Scope
from apps.delivery.errors import AppNotNamed, OtherApp
from apps.delivery.services.usage_accounts import allowed_app


def read_access(model: str) -> Access:
    """Who may read rows of a model."""
    return Access(scope=Scope.DELIVERY_READ, permission=f"delivery.view_{model}")


def write_access(model: str, verb: str) -> Access:
    """Who may add, change or delete rows of a model."""
    return Access(scope=Scope.DELIVERY_WRITE, permission=f"delivery.{verb}_{model}")


USAGE_READ = Access(scope=Scope.USAGE_READ, permission="delivery.view_usagetotal")
USAGE_WRITE = Access(scope=Scope.USAGE_WRITE, permission="delivery.add_usageevent")


def caller_app(request: Request, access: Access, wanted: str | None = None) -> str | None:
    """The app that this call may touch; None for callers who may touch all and named none.

    Raises OtherApp.
    """
    user = request.user
    if not isinstance(user, User):
        raise OtherApp("A person of the web pages speaks for no app.")
    return allowed_app(user, wanted, permission=str(access.permission))


def named_app(request: Request, access: Access, wanted: str | None) -> str:
    """The app that this call touches. Raises OtherApp, AppNotNamed."""
    app = caller_app(request, access, wanted)
    if app is None:
        raise AppNotNamed("Name the app: this token speaks for none of its own.")
    return app
