"""What a process remembers of the LID map, so that most messages cost no query.

The cache is Django's: with Redis all processes share it, without it each keeps its own. Nothing
that decides who may sign in reads it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.core.cache import cache as shared_cache

from apps.whatsapp_auth.jids import base_jid

KNOWN_FOR = timedelta(minutes=20)
HIDDEN_FOR = timedelta(minutes=5)
COOL_DOWN = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class CachedMapping:
    """A LID's phone address, or None when it is known to be hidden.

    `stored_at` is when it was last written to the database, None when it was only read.
    """

    jid: str | None
    expires_at: datetime
    stored_at: datetime | None = None


def is_fresh(
    known: str | None, stored_at: datetime | None, *, told: str | None, now: datetime
) -> bool:
    """Whether learning this again would tell nothing new: same phone, written lately.

    A message without a phone says nothing against a known one.
    """
    if stored_at is None or abs(now - stored_at) >= COOL_DOWN:
        return False
    return told in {None, known}


def read_many(lids: Iterable[str], *, now: datetime) -> dict[str, CachedMapping]:
    """The living entries of exactly these LIDs."""
    keys = {_key(lid): lid for lid in lids}
    found = shared_cache.get_many(list(keys))
    return {keys[key]: entry for key, entry in found.items() if entry.expires_at > now}


def read_people(lids: Iterable[str], *, now: datetime) -> dict[str, CachedMapping]:
    """Entries of the people behind the LIDs: a device's base answers where it knows more."""
    bases = {lid: base_jid(lid) for lid in lids}
    found = read_many({*bases, *bases.values()}, now=now)
    entries = {}
    for lid, base in bases.items():
        own, shared = found.get(lid), found.get(base)
        entry = own if own is not None and (own.jid or shared is None) else shared
        if entry is not None:
            entries[lid] = entry
    return entries


def write_many(jids: Mapping[str, str | None], *, now: datetime, is_stored: bool) -> None:
    """Remember mappings; the time of the last write survives a mere look-up."""
    keys = {lid: _key(lid) for lid in jids}
    former = {} if is_stored else shared_cache.get_many(list(keys.values()))
    entries = {}
    for lid, jid in jids.items():
        before = former.get(keys[lid])
        stored_at = now if is_stored else before and before.stored_at
        expires_at = now + (KNOWN_FOR if jid or is_stored else HIDDEN_FOR)
        entries[keys[lid]] = CachedMapping(jid, expires_at, stored_at)
    shared_cache.set_many(entries, timeout=int(KNOWN_FOR.total_seconds()))


def forget_many(lids: Iterable[str]) -> None:
    """Drop entries, so that the next look-up asks the database."""
    shared_cache.delete_many([_key(lid) for lid in lids])


def _key(lid: str) -> str:
    return f"lid_map:{lid}"
