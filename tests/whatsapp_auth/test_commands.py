from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from apps.whatsapp_auth import errors
from apps.whatsapp_auth.models import Moderator, PhoneGuard
from apps.whatsapp_auth.services import moderators, tokens
from apps.whatsapp_auth.services.links import issue_link
from apps.whatsapp_auth.services.tokens import check_token, issue_token, rotate_token
from tests.whatsapp_auth.factories import NOW, PHONE

pytestmark = pytest.mark.django_db


def run(*arguments):
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue().strip()


def test_a_link_is_printed():
    assert run("login_link", PHONE).startswith(f"https://pombo.example/login/?wa={PHONE}&wa_ts=")


def test_links_are_called_back():
    run("login_link", PHONE, "--revoke")
    assert PhoneGuard.objects.get().links_void_before is not None


def test_what_is_no_phone_gets_no_link():
    with pytest.raises(CommandError):
        run("login_link", "157019776499771@lid")


def test_without_a_secret_no_link_is_made(settings):
    settings.WHATSAPP_LOGIN_LINK_SECRET = ""
    with pytest.raises(errors.LoginSecretMissing):
        issue_link(PHONE, actor="ana", now=NOW)


def test_in_development_a_derived_key_signs(settings):
    settings.WHATSAPP_LOGIN_LINK_SECRET = ""
    settings.DEBUG = True
    assert "wa_sig=" in issue_link(PHONE, actor="ana", now=NOW).url


def test_a_local_provider_is_refused_outside_development():
    with pytest.raises(CommandError):
        run("local_provider")


def test_a_rotated_token_has_a_successor_and_a_last_hour(owner):
    former, secret = issue_token("bot", owner=owner, scopes=["whatsapp:read"])
    _successor, new_secret = rotate_token(former.pk, grace=timedelta(hours=1), now=NOW)
    for value in (secret, new_secret):
        assert check_token(value, now=NOW).scopes == ["whatsapp:read"]
    with pytest.raises(errors.InvalidToken):
        check_token(secret, now=NOW + timedelta(hours=2))


def test_an_ended_token_is_not_rotated(owner):
    token, _secret = issue_token("bot", owner=owner, scopes=["whatsapp:read"])
    tokens.revoke_tokens([token.pk], now=timezone.now())
    with pytest.raises(CommandError):
        run("api_token", "rotate", token.prefix)


def test_moderators_become_operators_once(django_user_model):
    Moderator.objects.create(
        google_sub="1", owner_jid="x", email="Mia@example.com", password_hash="scrypt$a$b"
    )
    Moderator.objects.create(
        google_sub="2", owner_jid="x", email="old@example.com", password_hash="x", revoked_at=NOW
    )
    assert moderators.import_moderators(["1", "2"]).created_count == 1
    assert moderators.import_moderators(["1", "2"]).created_count == 0
    user = django_user_model.objects.get(username="mia@example.com")
    assert [group.name for group in user.groups.all()] == ["operator"]
    assert user.is_staff
    assert not user.has_usable_password()
