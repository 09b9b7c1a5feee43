"""Learning LIDs: writing what is new, keeping its history, and reconciling in one transaction."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.db import DataError, IntegrityError, connection, transaction
from django.utils import timezone

from apps.whatsapp_auth.jids import (
    MAX_JID_LENGTH,
    JidKind,
    is_lid_jid,
    is_whatsapp_jid,
    normalize_jid,
    parse_jid,
    phone_jid_or_none,
)
from apps.whatsapp_auth.lid_map import cache
from apps.whatsapp_auth.models import LidHistory, LidMapping
from apps.whatsapp_auth.senders import LidPair
from apps.whatsapp_auth.services import reconciliation
from apps.whatsapp_auth.services.conflicts import retry_on_conflict

BATCH_SIZE = 800
MAX_SOURCE_LENGTH = 32
# Old or deduced knowledge: it fills gaps and never replaces what a message said.
WEAK_SOURCES = frozenset({"backfill", "derived"})

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Learned:
    """What came of one pair: whether it was written, and whether it was news."""

    queued: bool
    reconciled: bool


@dataclass(slots=True)
class LearnReport:
    """What came of many pairs; `rejected` holds the LIDs (as given) with a reason."""

    written: set[str] = field(default_factory=set)
    reconciled: set[str] = field(default_factory=set)
    skipped_count: int = 0
    rejected: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Row:
    """A row as it was found; `stored_at` is None when this transaction made it."""

    jid: str | None
    stored_at: datetime | None
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class _Stored:
    """What one transaction wrote, and which of it was a new phone."""

    written: set[str]
    changed: set[str]


def learn(
    lid: str | None, jid: str | None = None, source: str = "message", *, now: datetime | None = None
) -> Learned:
    """Learn that a LID was seen and, if known, its phone address; the two may be swapped."""
    report = learn_many([LidPair(lid or "", jid)], source=source, now=now)
    return Learned(queued=bool(report.written), reconciled=bool(report.reconciled))


def learn_many(
    pairs: Iterable[LidPair], *, source: str, now: datetime | None = None
) -> LearnReport:
    """Learn many pairs in batches of 800; what cannot be stored is reported, not raised."""
    now = now or timezone.now()
    report = LearnReport()
    wanted = _collect(pairs, report)
    cached = cache.read_many(wanted, now=now)
    news = {lid: jid for lid, jid in wanted.items() if not _is_fresh(cached.get(lid), jid, now)}
    report.skipped_count = len(wanted) - len(news)
    lids = sorted(news)
    for start in range(0, len(lids), BATCH_SIZE):
        batch = {lid: news[lid] for lid in lids[start : start + BATCH_SIZE]}
        _store_or_split(batch, source[:MAX_SOURCE_LENGTH], report, now=now)
    return report


@transaction.atomic
def reconcile(lid: str, jid: str, *, now: datetime | None = None) -> bool:
    """Move everything from a LID to its phone once more; False when they are not such a pair.

    Harmless to repeat. Learning does it by itself whenever a LID's phone is new.
    """
    if not is_lid_jid(lid) or parse_jid(lid) is None or not phone_jid_or_none(jid):
        return False
    moves = {normalize_jid(lid): normalize_jid(jid)}
    reconciliation.move_identities(moves, now=now or timezone.now())
    return True


def _collect(pairs: Iterable[LidPair], report: LearnReport) -> dict[str, str | None]:
    """Pairs as rows: both the LID as given and its base, a known phone never undone by none.

    When several LIDs of one server claim a phone, the last one has it.
    """
    wanted: dict[str, str | None] = {}
    claims: dict[tuple[str, str], str] = {}
    for lid, jid in pairs:
        if is_whatsapp_jid(lid) and is_lid_jid(jid):
            lid, jid = jid or "", lid  # noqa: PLW2901 (reported the wrong way round)
        hidden, phone = parse_jid(lid), parse_jid(jid)
        if hidden is None or hidden.kind is not JidKind.LID:
            report.rejected[lid] = "not_a_lid"
        elif len(hidden.address) > MAX_JID_LENGTH or len(jid or "") > MAX_JID_LENGTH:
            report.rejected[lid] = "too_long"
        else:
            base = phone.base if phone is not None and phone.kind is JidKind.PHONE else None
            for form in {hidden.address, hidden.base}:
                wanted[form] = base or wanted.get(form)
            if base:
                claims[base, hidden.server] = hidden.user
    return {
        lid: jid if jid and _is_claimed(claims, jid, lid) else None for lid, jid in wanted.items()
    }


def _is_claimed(claims: Mapping[tuple[str, str], str], jid: str, lid: str) -> bool:
    server, user = _server_and_user(lid)
    return claims[jid, server] == user


def _store_or_split(
    batch: Mapping[str, str | None], source: str, report: LearnReport, *, now: datetime
) -> None:
    """Store a batch; when the database refuses it, its halves, so that one bad row fails alone."""
    try:
        stored = retry_on_conflict(lambda: _store(batch, source, now=now))
    except (DataError, IntegrityError):
        lids = list(batch)
        if len(lids) == 1:
            logger.exception("whatsapp_auth.lid_map.refused", extra={"source": source})
            report.rejected[lids[0]] = "refused"
            return
        middle = len(lids) // 2
        for half in (lids[:middle], lids[middle:]):
            _store_or_split({lid: batch[lid] for lid in half}, source, report, now=now)
    else:
        report.written |= stored.written
        report.reconciled |= stored.changed
        report.skipped_count += len(batch) - len(stored.written)


@transaction.atomic
def _store(batch: Mapping[str, str | None], source: str, *, now: datetime) -> _Stored:
    """Write a batch and reconcile what changed."""
    if source in WEAK_SOURCES:
        batch = _without_held_phones(batch)
    rows = _lock_rows(batch, source, now=now)
    after = {
        lid: _decide(rows[lid].jid, jid, source)
        for lid, jid in batch.items()
        if not _is_fresh(rows[lid], jid, now)
    }
    changes = {lid: jid for lid, jid in after.items() if jid and jid != rows[lid].jid}
    _upsert({lid: after[lid] for lid in after if not rows[lid].is_new}, source, now=now)
    displaced = _displace(changes, now=now)
    _write_history(changes, source, now=now)
    lost = {jid for lid in changes if (jid := rows[lid].jid)} | set(displaced.values())
    reconciliation.void_links_of(lost, now=now)
    reconciliation.move_identities(changes, now=now)
    # Dropped now for this transaction's own look-ups, written anew when others see it too.
    final = after | dict.fromkeys(displaced)
    cache.forget_many(final)
    transaction.on_commit(lambda: cache.write_many(final, now=now, is_stored=True))
    return _Stored(written=set(after), changed=set(changes))


def _without_held_phones(batch: Mapping[str, str | None]) -> dict[str, str | None]:
    """The batch without phones that another LID of the same server has by better knowledge."""
    phones = {jid for jid in batch.values() if jid}
    held = LidMapping.objects.filter(jid__in=phones).values_list("lid", "jid")
    holders = {(jid, _server_and_user(lid)[0]): _server_and_user(lid)[1] for lid, jid in held}

    def is_free(lid: str, jid: str | None) -> bool:
        server, user = _server_and_user(lid)
        return holders.get((jid, server), user) == user

    return {lid: jid if is_free(lid, jid) else None for lid, jid in batch.items()}


def _lock_rows(batch: Mapping[str, str | None], source: str, *, now: datetime) -> dict[str, _Row]:
    """Every row of the batch, locked, as it is; those that miss are made first."""
    rows = LidMapping.objects.select_for_update().filter(lid__in=batch).order_by("lid")
    present = {row.lid: _Row(phone_jid_or_none(row.jid), row.last_seen) for row in rows}
    return present | _insert_rows(
        {lid: jid for lid, jid in batch.items() if lid not in present}, source, now=now
    )


def _insert_rows(jids: Mapping[str, str | None], source: str, *, now: datetime) -> dict[str, _Row]:
    """Make the rows that miss, as told. One that somebody else made meanwhile is taken as it is."""
    LidMapping.objects.bulk_create(
        [
            LidMapping(lid=lid, jid=jid, source=source, first_seen=now, last_seen=now)
            for lid, jid in jids.items()
        ],
        ignore_conflicts=True,
    )
    made = LidMapping.objects.select_for_update().filter(lid__in=jids).order_by("lid")
    return {
        lid: _Row(None, None, is_new=True)
        if jid == jids[lid]
        else _Row(phone_jid_or_none(jid), None)
        for lid, jid in made.values_list("lid", "jid")
    }


def _is_fresh(known: _Row | cache.CachedMapping | None, told: str | None, now: datetime) -> bool:
    return known is not None and cache.is_fresh(known.jid, known.stored_at, told=told, now=now)


def _decide(current: str | None, told: str | None, source: str) -> str | None:
    """The phone to keep: what was told, unless nothing was or it is weaker than what is known."""
    if told is None or (current is not None and source in WEAK_SOURCES):
        return current
    return told


def _displace(changes: Mapping[str, str], *, now: datetime) -> dict[str, str]:
    """Take the phones of the changes away from other LIDs of the same server; gives those."""
    phones = set(changes.values())
    owners = {(jid, *_server_and_user(lid)) for lid, jid in changes.items()}
    servers = {(jid, server) for jid, server, _user in owners}
    _take_turns(phones)
    others = LidMapping.objects.select_for_update().filter(jid__in=phones).order_by("lid")
    displaced = {}
    for lid, jid in others.values_list("lid", "jid"):
        server, user = _server_and_user(lid)
        if jid and (jid, server) in servers and (jid, server, user) not in owners:
            displaced[lid] = jid
    if displaced:
        LidMapping.objects.filter(lid__in=displaced).update(jid=None, last_seen=now)
        LidHistory.objects.filter(lid__in=displaced, valid_to=None).update(valid_to=now)
    return displaced


def _take_turns(phones: Iterable[str]) -> None:
    """Let transactions that claim one phone follow each other.

    InnoDB's locking reads wait for rows that others have inserted, and SQLite has one writer;
    PostgreSQL would not see them, so there a lock on the phone's name stands in.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_advisory_xact_lock(hashtext(phone)) FROM"
                " (SELECT unnest(%s::text[]) AS phone ORDER BY 1) AS claimed",
                [sorted(phones)],
            )


def _upsert(jids: Mapping[str, str | None], source: str, *, now: datetime) -> None:
    """One statement for the rows that were there; their `first_seen` stays."""
    target = ["lid"] if connection.features.supports_update_conflicts_with_target else None
    LidMapping.objects.bulk_create(
        [
            LidMapping(lid=lid, jid=jid, source=source, first_seen=now, last_seen=now)
            for lid, jid in jids.items()
        ],
        update_conflicts=True,
        unique_fields=target,
        update_fields=["jid", "source", "last_seen"],
    )


def _write_history(changes: Mapping[str, str], source: str, *, now: datetime) -> None:
    """End the spans that the changes replace and start new ones."""
    LidHistory.objects.filter(lid__in=changes, valid_to=None).update(valid_to=now)
    LidHistory.objects.bulk_create(
        LidHistory(lid=lid, jid=jid, source=source, valid_from=now) for lid, jid in changes.items()
    )


def _server_and_user(lid: str) -> tuple[str, str]:
    jid = parse_jid(lid)
    return (jid.server, jid.user) if jid else ("", lid)
