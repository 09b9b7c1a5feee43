"""Issuing, checking, rotating and ending API tokens."""

import hashlib
import secrets
from collections.abc import Collection
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction

from apps.common.scopes import Scope
from apps.whatsapp_auth import errors
from apps.whatsapp_auth.models import ApiToken

TOKEN_MARK = "pombo_"  # noqa: S105 (lets secret scanners recognise a leaked token)
PREFIX_LENGTH = 12
LAST_USED_STEP = timedelta(minutes=1)


def issue_token(
    name: str,
    *,
    owner: User,
    scopes: Collection[str],
    expires_at: datetime | None = None,
    is_client_side: bool = False,
) -> tuple[ApiToken, str]:
    """Create a token and return it with its secret, which nobody can read again.

    Raises UnknownScope when a scope does not exist, NoScope when none is given.
    """
    if not scopes:
        raise errors.NoScope
    if unknown := sorted(set(scopes) - set(Scope.values)):
        raise errors.UnknownScope(unknown)
    secret = TOKEN_MARK + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        name=name,
        prefix=secret[:PREFIX_LENGTH],
        digest=digest_of(secret),
        scopes=sorted(set(scopes)),
        owner=owner,
        expires_at=expires_at,
        is_client_side=is_client_side,
    )
    return token, secret


def digest_of(secret: str) -> str:
    """SHA-256 of the secret: enough for 256 random bits, and quick at every request."""
    return hashlib.sha256(secret.encode()).hexdigest()


def check_token(secret: str, *, now: datetime) -> ApiToken:
    """The token behind a secret. Raises InvalidToken, the same for every cause."""
    token = ApiToken.objects.select_related("owner").filter(prefix=secret[:PREFIX_LENGTH]).first()
    is_right = token is not None and secrets.compare_digest(token.digest, digest_of(secret))
    if token is None or not is_right or not token.is_usable(now) or not token.owner.is_active:
        raise errors.InvalidToken
    if token.last_used_at is None or now - token.last_used_at > LAST_USED_STEP:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token


def revoke_tokens(tokens: Collection[int], *, now: datetime) -> int:
    """End the tokens of these ids at once; tells how many were still alive."""
    return ApiToken.objects.filter(pk__in=tokens, revoked_at=None).update(revoked_at=now)


@transaction.atomic
def rotate_token(token_id: int, *, grace: timedelta, now: datetime) -> tuple[ApiToken, str]:
    """Issue a token like this one; the former works on for the grace period, to be replaced in it.

    Raises InvalidToken when it has ended already.
    """
    former = (
        ApiToken.objects.select_for_update().select_related("owner").filter(pk=token_id).first()
    )
    if former is None or not former.is_usable(now):
        raise errors.InvalidToken
    successor = issue_token(
        former.name,
        owner=former.owner,
        scopes=former.scopes,
        expires_at=former.expires_at,
        is_client_side=former.is_client_side,
    )
    end = now + grace
    former.expires_at = min(former.expires_at or end, end)
    former.save(update_fields=["expires_at"])
    return successor
