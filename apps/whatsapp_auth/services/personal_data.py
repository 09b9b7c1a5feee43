"""A person's own data: shown to them, and erased when they ask (LGPD articles 18 and 16).

Other apps keep data under a person's addresses and register what they export and erase; this module
never knows them.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from apps.whatsapp_auth import errors, queries
from apps.whatsapp_auth.choices import LoginOutcome
from apps.whatsapp_auth.digests import audit_digest
from apps.whatsapp_auth.jids import parse_jid
from apps.whatsapp_auth.lid_map import cache
from apps.whatsapp_auth.login_links import to_owner_jid, to_phone_digits
from apps.whatsapp_auth.models import (
    AccountNotice,
    GoogleSession,
    GoogleUser,
    LidHistory,
    LidMapping,
    LinkUse,
    LoginEvent,
    PhoneGuard,
)
from apps.whatsapp_auth.services import audit, links

Export = Callable[[frozenset[str]], list[Any]]
Erase = Callable[[frozenset[str]], int]


@dataclass(frozen=True, slots=True)
class Whose:
    """A person as the tables know them: accounts, addresses, phones."""

    google_subs: frozenset[str]
    addresses: frozenset[str]

    @property
    def phones(self) -> frozenset[str]:
        """The numbers among the addresses."""
        return frozenset(filter(None, map(to_phone_digits, self.addresses)))


@dataclass(frozen=True, slots=True)
class Section:
    """What another app keeps under a person's addresses, and how it gets rid of it."""

    export: Export
    erase: Erase


SECTIONS: dict[str, Section] = {}


def register_section(name: str, *, export: Export, erase: Erase) -> None:
    """Add an app's data to export and erasure; called once when the app starts.

    Both get every address of the person. `export` gives plain values, one per thing kept; `erase`
    runs in the transaction of the erasure and tells how many rows it removed or made anonymous.
    """
    SECTIONS[name] = Section(export, erase)


def identify(text: str) -> Whose:
    """The person behind a Google id, an e-mail address, a phone or an address.

    Raises PersonNotFound when no table knows them.
    """
    accounts = list(queries.find_accounts(text))
    starts = {account.owner_jid for account in accounts}
    if parse_jid(text) is not None:
        starts.add(text)
    elif owner := to_owner_jid(text):
        starts.add(owner)
    addresses = frozenset().union(*map(queries.owner_jids_of, starts)) if starts else starts
    whose = Whose(frozenset(account.google_sub for account in accounts), frozenset(addresses))
    if not any(count_person(whose).values()):
        raise errors.PersonNotFound
    return whose


def export_person(whose: Whose, *, actor: str, now: datetime) -> dict[str, Any]:
    """Everything that is kept about the person, as plain values. The export itself is audited."""
    data: dict[str, Any] = {
        name: [_plain(row) for row in rows] for name, rows in _rows(whose).items()
    }
    for name, section in SECTIONS.items():
        data[name] = section.export(whose.addresses)
    _record(LoginOutcome.DATA_EXPORTED, whose, actor=actor, now=now)
    return data


def count_person(whose: Whose) -> dict[str, int]:
    """How many rows an erasure would touch, by table and by what other apps keep."""
    own = {name: rows.count() for name, rows in _rows(whose).items()}
    return own | {name: len(one.export(whose.addresses)) for name, one in SECTIONS.items()}


@transaction.atomic
def erase_person(whose: Whose, *, actor: str, now: datetime) -> dict[str, int]:
    """Delete the person's rows and end their sessions; tells how many rows by table.

    Bans stay, because they still have to keep somebody out. What remains of a phone is the time
    before which its links are void, so that no open link brings it back.
    """
    counts = {name: section.erase(whose.addresses) for name, section in SECTIONS.items()}
    for name, rows in _rows(whose).items():
        counts[name] = rows.delete()[0]
    if whose.phones:
        links.void_links(sorted(whose.phones), now=now)
    transaction.on_commit(lambda: cache.forget_many(whose.addresses))
    _record(LoginOutcome.DATA_ERASED, whose, actor=actor, now=now)
    return counts


def _rows(whose: Whose) -> dict[str, QuerySet[Any]]:
    """Every table with rows about the person; sessions before accounts, which they refer to."""
    subs, addresses = whose.google_subs, whose.addresses
    phones = _digests(whose.phones)
    accounts = _digests(subs)
    keys = {links.guard_key(phone) for phone in whose.phones}
    return {
        "sessions": GoogleSession.objects.filter(
            Q(google_user_id__in=subs) | Q(owner_jid__in=addresses)
        ),
        "notices": AccountNotice.objects.filter(google_sub__in=subs),
        "used_links": LinkUse.objects.filter(google_sub__in=subs),
        "sign_in_events": LoginEvent.objects.filter(
            Q(phone_digest__in=phones) | Q(account_digest__in=accounts)
        ),
        "accounts": GoogleUser.objects.filter(pk__in=subs),
        "lid_history": LidHistory.objects.filter(Q(lid__in=addresses) | Q(jid__in=addresses)),
        "lid_mappings": LidMapping.objects.filter(Q(lid__in=addresses) | Q(jid__in=addresses)),
        "phone_guards": PhoneGuard.objects.filter(phone__in=keys),
    }


def _digests(values: Iterable[str]) -> list[str]:
    return [audit_digest(value) for value in values]


def _plain(row: Any) -> dict[str, Any]:
    """A row without secrets: digests stand for tokens and are nobody's business."""
    hidden = {"session_token", "phone_digest", "account_digest", "address_digest"}
    fields = [field for field in row._meta.fields if field.name not in hidden]
    values = {field.name: getattr(row, field.attname) for field in fields}
    return {name: None if value is None else str(value) for name, value in values.items()}


def _record(outcome: str, whose: Whose, *, actor: str, now: datetime) -> None:
    """One line by digest: after an erasure it is all that tells that it was done."""
    audit.record(
        outcome,
        phone=min(whose.phones, default=""),
        google_sub=min(whose.google_subs, default=""),
        actor=actor,
        now=now,
    )
