"""Issuing and calling back login links, with the site's own settings."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from apps.whatsapp_auth import errors, login_links
from apps.whatsapp_auth.choices import LoginOutcome
from apps.whatsapp_auth.digests import development_link_secret
from apps.whatsapp_auth.jids import is_possible_phone, mask_jid, phone_variants
from apps.whatsapp_auth.models import LidMapping, PhoneGuard
from apps.whatsapp_auth.services import audit


@dataclass(frozen=True, slots=True)
class IssuedLink:
    """A login link for one phone, shown masked beside it."""

    url: str
    masked_phone: str
    expires_at: datetime


def link_config() -> login_links.LoginLinkConfig:
    """How links are signed here: always, with a derived key at most in development."""
    secrets = [settings.WHATSAPP_LOGIN_LINK_SECRET, *settings.WHATSAPP_LOGIN_LINK_SECRET_PREVIOUS]
    if not any(secrets) and settings.DEBUG:
        secrets = [development_link_secret()]
    return login_links.LoginLinkConfig(
        secrets=tuple(secrets),
        require_signature=True,
        ttl_seconds=settings.WHATSAPP_LOGIN_LINK_TTL_SECONDS,
        path=settings.WHATSAPP_LOGIN_PATH,
        base_urls=(settings.WHATSAPP_LOGIN_BASE_URL, settings.SITE_ORIGIN),
    )


def issue_link(user_id: str, *, actor: str, now: datetime) -> IssuedLink:
    """A signed link for a phone or phone address.

    Raises PhoneUnknown when it is neither (or the digits are those of a known LID), TooManyLinks,
    LoginSecretMissing and LoginBaseUrlMissing.
    """
    digits = login_links.to_phone_digits(user_id)
    if not digits or not is_possible_phone(digits) or _is_known_lid(digits):
        raise errors.PhoneUnknown
    config = link_config()
    if not config.secrets:
        raise errors.LoginSecretMissing
    audit.refuse_too_many_links(digits, now=now)
    url = login_links.build_login_url(digits, config, now)
    audit.record(LoginOutcome.LINK_ISSUED, phone=digits, actor=actor, now=now)
    return IssuedLink(url, mask_jid(digits) or "", now + timedelta(seconds=config.ttl_seconds))


def guard_key(digits: str) -> str:
    """The row that stands for a number in all its national spellings."""
    return min(phone_variants(digits) or {digits})


def lock_phone(digits: str) -> PhoneGuard:
    """Take the phone's turn: the caller's transaction holds its row until it ends."""
    key = guard_key(digits)
    return PhoneGuard.objects.select_for_update().get(phone=key)


def ensure_guard(digits: str) -> None:
    """Make sure that the phone's row exists.

    Called before the transaction that locks it: two of them inserting one key would block each
    other.
    """
    key = guard_key(digits)
    if not PhoneGuard.objects.filter(phone=key).exists():
        PhoneGuard.objects.bulk_create([PhoneGuard(phone=key)], ignore_conflicts=True)


@transaction.atomic
def revoke_links(user_id: str, *, actor: str, now: datetime) -> None:
    """Void every link of the phone that was written up to now. Raises PhoneUnknown."""
    digits = login_links.to_phone_digits(user_id)
    if not digits:
        raise errors.PhoneUnknown
    void_links([digits], now=now)
    audit.record(LoginOutcome.LINKS_REVOKED, phone=digits, actor=actor, now=now)


def void_links(phones: list[str], *, now: datetime) -> None:
    """Void the open links of these phones, in the caller's transaction."""
    keys = sorted({guard_key(phone) for phone in phones})
    PhoneGuard.objects.bulk_create([PhoneGuard(phone=key) for key in keys], ignore_conflicts=True)
    PhoneGuard.objects.filter(phone__in=keys).update(links_void_before=now)


def _is_known_lid(digits: str) -> bool:
    """Whether the digits are those of a LID, put on a phone server by mistake."""
    return LidMapping.objects.filter(lid__in=[f"{digits}@lid", f"{digits}@hosted.lid"]).exists()
