"""API tokens: shown once, scoped, ended at once."""

import json
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from apps.whatsapp_auth import errors
from apps.whatsapp_auth.models import ApiToken
from apps.whatsapp_auth.services import tokens

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)

pytestmark = pytest.mark.django_db


def test_only_the_digest_is_stored(owner: User) -> None:
    token, secret = tokens.issue_token("bot", owner=owner, scopes=["flags:read"])
    stored = ApiToken.objects.filter(pk=token.pk).values().get()
    assert secret not in json.dumps(stored, default=str)
    assert tokens.check_token(secret, now=NOW).pk == token.pk


def test_a_changed_secret_is_refused(owner: User) -> None:
    _token, secret = tokens.issue_token("bot", owner=owner, scopes=["flags:read"])
    with pytest.raises(errors.InvalidToken):
        tokens.check_token(secret[:-1] + ("A" if secret[-1] != "A" else "B"), now=NOW)


def test_an_expired_token_is_refused(owner: User) -> None:
    _token, secret = tokens.issue_token("bot", owner=owner, scopes=["flags:read"], expires_at=NOW)
    with pytest.raises(errors.InvalidToken):
        tokens.check_token(secret, now=NOW)
    assert tokens.check_token(secret, now=NOW - timedelta(seconds=1))


def test_a_revoked_token_is_refused_and_revoked_only_once(owner: User) -> None:
    token, secret = tokens.issue_token("bot", owner=owner, scopes=["flags:read"])
    assert tokens.revoke_tokens([token.pk], now=NOW) == 1
    assert tokens.revoke_tokens([token.pk], now=NOW) == 0
    with pytest.raises(errors.InvalidToken):
        tokens.check_token(secret, now=NOW)


def test_a_token_ends_with_its_owner(owner: User) -> None:
    _token, secret = tokens.issue_token("bot", owner=owner, scopes=["flags:read"])
    User.objects.filter(pk=owner.pk).update(is_active=False)
    with pytest.raises(errors.InvalidToken):
        tokens.check_token(secret, now=NOW)


def test_unknown_scopes_are_named(owner: User) -> None:
    with pytest.raises(errors.UnknownScope, match="fly:high"):
        tokens.issue_token("bot", owner=owner, scopes=["fly:high"])


def test_the_command_creates_lists_and_revokes(owner: User) -> None:
    out = StringIO()
    call_command("api_token", "create", "--scope", "flags:read", "--json", stdout=out)
    created = json.loads(out.getvalue())
    assert tokens.check_token(created["token"], now=NOW).scopes == ["flags:read"]
    listing = StringIO()
    call_command("api_token", "list", "--json", stdout=listing)
    assert json.loads(listing.getvalue())[0]["prefix"] == created["prefix"]
    call_command("api_token", "revoke", created["prefix"])
    with pytest.raises(CommandError, match="No living token"):
        call_command("api_token", "revoke", created["prefix"])


def test_the_command_refuses_an_unknown_scope(owner: User) -> None:
    with pytest.raises(CommandError, match="Unknown scopes: fly:high"):
        call_command("api_token", "create", "--scope", "fly:high")
