"""Tokens with which an app speaks for itself, and only for itself."""

import logging
import secrets
from collections.abc import Collection

from django.contrib.auth.models import User
from django.db import transaction

from apps.common.scopes import Scope
from apps.delivery.errors import OtherApp
from apps.delivery.models import App, AppAccount
from apps.whatsapp_auth.models import ApiToken
from apps.whatsapp_auth.services.tokens import issue_token

logger = logging.getLogger(__name__)

APP_SCOPES = (Scope.USAGE_READ, Scope.USAGE_WRITE)


@transaction.atomic
def issue_app_token(app: App, *, scopes: Collection[str] = APP_SCOPES) -> tuple[ApiToken, str]:
    """A token of the app's own account, and its secret, which nobody can read again.

    Raises UnknownScope, NoScope.
    """
    App.objects.select_for_update().get(pk=app.pk)
    account = AppAccount.objects.select_related("user").filter(app=app).first()
    user = account.user if account else _new_account(app)
    logger.info("delivery.app_token_issued", extra={"app_code": app.code})
    return issue_token(f"app {app.code}", owner=user, scopes=scopes)


def _new_account(app: App) -> User:
    """A user without password or permission, so that its tokens reach nothing but the app.

    Its name ends at random: the tokens of a former app of the same code stay dead.
    """
    user = User(username=f"app:{app.code}:{secrets.token_hex(4)}")
    user.set_unusable_password()
    user.save()
    AppAccount.objects.create(app=app, user=user)
    return user


def app_of(user: User) -> str | None:
    """The code of the app that a user speaks for, if it is an app's account."""
    rows = AppAccount.objects.filter(user_id=user.pk)
    return rows.values_list("app__code", flat=True).first()


def allowed_app(user: User, wanted: str | None, *, permission: str) -> str | None:
    """The app that a call may touch; None for a caller who may touch all and named none.

    An app's account reaches its app. Whoever else calls needs the permission as a person: a scope
    alone reaches no app. Raises OtherApp.
    """
    own = app_of(user)
    if own is None and not user.has_perm(permission):
        raise OtherApp("This token speaks for no app.")
    if own is not None and wanted not in {None, own}:
        raise OtherApp("This token speaks for another app.", details={"app": wanted})
    return own or wanted
