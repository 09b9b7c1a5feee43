"""Reads about people: the addresses that are one person, bans, accounts and notices."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Q, QuerySet

from apps.whatsapp_auth.digests import audit_digest
from apps.whatsapp_auth.jids import KIND_OF_SERVER, JidKind, parse_jid, phone_variants
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
    """Every address under which this owner may hold packs: phone addresses and mapped LIDs.

    A LID with a known phone gives the phone's addresses as well.
    """
    mapped = LidMapping.objects.filter(lid=owner_jid).values_list("jid", flat=True).first()
    digits = to_phone_digits(mapped or owner_jid) if "@" in (mapped or owner_jid) else ""
    if not digits:
        return frozenset({owner_jid})
    return frozenset({owner_jid}) | _addresses_with_lids([digits])


def active_ban(*, google_sub: str | None, email: str | None, owner_jid: str | None) -> Ban | None:
    """The ban that keeps this person out, if any: by account, e-mail or any spelling of a phone."""
    named = Q(pk__in=[])
    if google_sub:
        named |= Q(google_sub=google_sub)
    if email:
        named |= Q(email=email.lower())
    if owner_jid:
        named |= Q(owner_jid__in=addresses_of_person(owner_jid))
    return Ban.objects.filter(named, revoked_at=None).order_by("created_at", "id").first()


def addresses_of_person(owner_jid: str) -> frozenset[str]:
    """Like `owner_jids_of`, in every national spelling of the number."""
    addresses = owner_jids_of(owner_jid)
    phones = {digits for jid in addresses if "@" in jid and (digits := to_phone_digits(jid))}
    variants = {other for digits in phones for other in phone_variants(digits)}
    return addresses | _addresses_with_lids(variants) if variants else addresses


def accounts_of_phone(digits: str) -> QuerySet[GoogleUser]:
    """Accounts that hold the number in any spelling, in key order."""
    variants = phone_variants(digits) | {digits}
    return GoogleUser.objects.filter(
        Q(owner_phone__in=variants) | Q(owner_jid__in=phone_addresses(variants))
    ).order_by("google_sub")


def unseen_notices(google_sub: str) -> QuerySet[AccountNotice]:
    """What this person has not been told yet, the oldest first."""
    return AccountNotice.objects.filter(google_sub=google_sub, seen_at=None).order_by("id")


def find_accounts(text: str) -> QuerySet[GoogleUser]:
    """Accounts by Google id, e-mail, phone or address, for tools of operators."""
    jid = parse_jid(text)
    owners: Iterable[Any] = addresses_of_person(jid.base) if jid else []
    digits = to_phone_digits(text) if not jid else ""
    if digits:
        owners = addresses_of_person(f"{digits}@{PHONE_SERVERS[0]}")
    return GoogleUser.objects.filter(
        Q(google_sub=text) | Q(email=text.lower()) | Q(owner_jid__in=owners)
    ).order_by("google_sub")


def lid_spans(owner_jid: str) -> QuerySet[LidHistory]:
    """The spans in which LIDs belonged to this owner, the latest first."""
    addresses = addresses_of_person(owner_jid)
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


def _addresses_with_lids(phones: Iterable[str]) -> frozenset[str]:
    addresses = phone_addresses(phones)
    lids = LidMapping.objects.filter(jid__in=addresses).values_list("lid", flat=True)
    return addresses | frozenset(lids)
