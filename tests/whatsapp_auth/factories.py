"""Accounts, links and sessions with whatever a test does not care about filled in."""

from datetime import UTC, datetime

from apps.whatsapp_auth.login_links import build_login_hint, to_owner_jid
from apps.whatsapp_auth.models import GoogleUser
from apps.whatsapp_auth.oidc import GoogleAccount
from apps.whatsapp_auth.services import links, sessions
from apps.whatsapp_auth.services.logins import sign_in

LINK_SECRET = "a-secret-for-tests-only"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
PHONE = "5511987654321"
OTHER_PHONE = "5521912345678"
LID = "123456789012345@lid"
ANA = GoogleAccount(sub="1001", email="ana@example.com", name="Ana")
RUI = GoogleAccount(sub="1002", email="rui@example.com", name="Rui")


def make_hint(phone=PHONE, at=NOW):
    return build_login_hint(phone, links.link_config(), at)


def make_user(account=ANA, phone=PHONE, owner_jid=None):
    return GoogleUser.objects.create(
        google_sub=account.sub,
        owner_jid=owner_jid or to_owner_jid(phone),
        owner_phone=phone if owner_jid is None else None,
        email=account.email,
    )


def make_session(account=ANA, phone=PHONE, now=NOW):
    user = GoogleUser.objects.filter(pk=account.sub).first() or make_user(account, phone)
    return sessions.open_session(user, now=now)


def signed_in(account=ANA, phone=PHONE, at=NOW, **kwargs):
    return sign_in(account, make_hint(phone, at), now=at, **kwargs)
