"""Reads about people: the addresses that are one person, bans, accounts and notices."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Q, QuerySet

from apps.whatsapp_auth.digests import audit_digest
from apps.whatsapp_auth.jids import (
    KIND_OF_SERVER,
    JidKind,
    is_lid_jid,
    parse_jid,
    phone_variants,
)
from apps.whatsapp_auth.login_links import to_phone_digits
from apps.whatsapp_auth.models import (
    AccountNotice,
    Ban,
    GoogleUser,
    LidHistory,
    LidMapping,
    LoginEvent,
)

PHONE_SERVERS = tuple(server for server, kind in KIND_OF_SERVER.items() if kind is JidKind.PHONE)


def owner_jids_of(owner_jid: str) -> frozenset[str]:
    """Every address under which this owner may hold packs or be banned.

    These are the number in each national spelling on each phone server, and the LIDs mapped to it;
    a LID with a known phone gives the same. Without a phone it is the address alone.
    """
    variants = phone_variants(_phone_behind(owner_jid))
    addresses = phone_addresses(variants)
    lids = LidMapping.objects.filter(jid__in=addresses).values_list("lid", flat=True)
    return frozenset({owner_jid}) | addresses | frozenset(lids if variants else ())


def active_ban(*, google_sub: str | None, email: str | None, owner_jid: str | None) -> Ban | None:
    """The ban that keeps this person out, if any: by account, e-mail or any spelling of a phone."""
    named = Q(pk__in=[])
    if google_sub:
        named |= Q(google_sub=google_sub)
    if email:
        named |= Q(email=email.lower())
    if owner_jid:
        named |= Q(owner_jid__in=owner_jids_of(owner_jid))
    return Ban.objects.filter(named, revoked_at=None).order_by("created_at", "id").first()


def accounts_of_phone(digits: str) -> QuerySet[GoogleUser]:
    """Accounts that hold the number in any spelling, in key order."""
    variants = phone_variants(digits)
    return GoogleUser.objects.filter(
        Q(owner_phone__in=variants) | Q(owner_jid__in=phone_addresses(variants))
    ).order_by("google_sub")


def unseen_notices(google_sub: str) -> QuerySet[AccountNotice]:
    """What this person has not been told yet, the oldest first."""
    return AccountNotice.objects.filter(google_sub=google_sub, seen_at=None).order_by("id")


def find_accounts(text: str) -> QuerySet[GoogleUser]:
    """Accounts by Google id, e-mail, phone or address, for tools of operators."""
    jid = parse_jid(text)
    owners: Iterable[Any] = owner_jids_of(jid.base) if jid else []
    digits = to_phone_digits(text) if not jid else ""
    if digits:
        owners = owner_jids_of(f"{digits}@{PHONE_SERVERS[0]}")
    return GoogleUser.objects.filter(
        Q(google_sub=text) | Q(email=text.lower()) | Q(owner_jid__in=owners)
    ).order_by("google_sub")


def lid_spans(owner_jid: str) -> QuerySet[LidHistory]:
    """The spans in which LIDs belonged to this owner, the latest first."""
    addresses = owner_jids_of(owner_jid)
    spans = LidHistory.objects.filter(Q(jid__in=addresses) | Q(lid__in=addresses))
    return spans.order_by("-valid_from", "-id")


def recent_events(user: GoogleUser) -> QuerySet[LoginEvent]:
    """The last twenty lines of the audit about an account or its phone."""
    named = Q(account_digest=audit_digest(user.google_sub))
    if user.owner_phone:
        named |= Q(phone_digest=audit_digest(user.owner_phone))
    return LoginEvent.objects.filter(named).order_by("-id")[:20]


def phone_addresses(phones: Iterable[str]) -> frozenset[str]:
    """The numbers on every phone server."""
    return frozenset(f"{phone}@{server}" for phone in phones for server in PHONE_SERVERS)


def _phone_behind(owner_jid: str) -> str:
    """The number of an owner address, through the LID map for a LID; '' without one."""
    jid: str | None = owner_jid
    if is_lid_jid(owner_jid):
        jid = LidMapping.objects.filter(lid=owner_jid).values_list("jid", flat=True).first()
    return to_phone_digits(jid) if jid and "@" in jid else ""
