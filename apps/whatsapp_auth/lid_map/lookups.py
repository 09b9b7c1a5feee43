"""Looking LIDs up: from the cache, the table, or another device of the same person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from apps.whatsapp_auth.choices import LookupStatus
from apps.whatsapp_auth.jids import (
    MAX_JID_LENGTH,
    JidKind,
    base_jid,
    is_lid_jid,
    is_whatsapp_jid,
    normalize_jid,
    parse_jid,
    phone_jid_or_none,
)
from apps.whatsapp_auth.lid_map import cache
from apps.whatsapp_auth.lid_map.learning import BATCH_SIZE, learn
from apps.whatsapp_auth.models import LidMapping


@dataclass(frozen=True, slots=True)
class Lookup:
    """The answer to "whose LID is this?"; `jid` only when it is known."""

    status: LookupStatus
    jid: str | None = None


def resolve_user_id(
    *,
    lid: str | None = None,
    jid: str | None = None,
    participant_alt: str | None = None,
    now: datetime | None = None,
) -> str | None:
    """The best address for a person: the phone's when it is given or known, else what there is."""
    if phone := next(filter(is_whatsapp_jid, (jid, participant_alt, lid)), None):
        return normalize_jid(phone)
    hidden = next(filter(is_lid_jid, (lid, jid, participant_alt)), None)
    if hidden is None:
        return jid or participant_alt or lid or None
    if not _is_lid(hidden):
        return hidden
    return _phone_of(hidden, now=now or timezone.now()) or hidden


def resolve_many(lids: Sequence[str], *, now: datetime | None = None) -> dict[str, Lookup]:
    """Look many LIDs up, each with whether it is known, hidden, unknown or no LID at all."""
    now = now or timezone.now()
    usable = [lid for lid in lids if _is_lid(lid)]
    cached = cache.read_people(usable, now=now)
    answers = {
        lid: Lookup(LookupStatus.KNOWN, entry.jid) for lid, entry in cached.items() if entry.jid
    }
    missing = [lid for lid in usable if lid not in answers]
    for start in range(0, len(missing), BATCH_SIZE):
        answers |= _look_up(missing[start : start + BATCH_SIZE], now=now)
    return {lid: answers.get(lid, Lookup(LookupStatus.ERROR)) for lid in lids}


def current_phone(lid: str) -> str | None:
    """The phone address of a LID straight from the table, for decisions about access."""
    rows = dict(LidMapping.objects.filter(lid__in={lid, base_jid(lid)}).values_list("lid", "jid"))
    return _best(rows, lid)


def _phone_of(lid: str, *, now: datetime) -> str | None:
    """A LID's phone: from the cache, its row, its base, or another device of the same person."""
    if entry := cache.read_people([lid], now=now).get(lid):
        return entry.jid
    base = base_jid(lid)
    rows = dict(LidMapping.objects.filter(lid__in={lid, base}).values_list("lid", "jid"))
    phone = _best(rows, lid) or _from_other_devices(lid)
    cache.write_many({lid: phone}, now=now, is_stored=False)
    if phone and lid not in rows:
        learn(lid, phone, "derived", now=now)
    return phone


def _from_other_devices(lid: str) -> str | None:
    """The phone that another device of the same LID was seen with, the latest first."""
    jid = parse_jid(lid)
    if jid is None:
        return None
    devices = LidMapping.objects.filter(
        # Case-blind, because MySQL uses its index only for that; the kind is checked below.
        lid__istartswith=f"{jid.user}:",
        lid__iendswith=f"@{jid.server}",
        jid__isnull=False,
    )
    phones = devices.order_by("-last_seen", "lid").values_list("jid", flat=True)[:5]
    return next(filter(None, map(phone_jid_or_none, phones)), None)


def _look_up(lids: Sequence[str], *, now: datetime) -> dict[str, Lookup]:
    """One query for a batch: rows of the LIDs and of their bases."""
    keys = {*lids, *map(base_jid, lids)}
    rows = dict(LidMapping.objects.filter(lid__in=keys).values_list("lid", "jid"))
    phones = {lid: _best(rows, lid) for lid in lids}
    known = {lid: phone for lid, phone in phones.items() if phone}
    cache.write_many(known, now=now, is_stored=False)
    return {
        lid: Lookup(LookupStatus.KNOWN, phone)
        if phone
        else Lookup(_status_without_phone(rows, lid))
        for lid, phone in phones.items()
    }


def _status_without_phone(rows: Mapping[str, str | None], lid: str) -> LookupStatus:
    is_seen = lid in rows or base_jid(lid) in rows
    return LookupStatus.HIDDEN if is_seen else LookupStatus.UNKNOWN


def _best(rows: Mapping[str, str | None], lid: str) -> str | None:
    """The phone of the LID's own row, else of its base's row."""
    return phone_jid_or_none(rows.get(lid)) or phone_jid_or_none(rows.get(base_jid(lid)))


def _is_lid(value: str) -> bool:
    jid = parse_jid(value)
    return jid is not None and jid.kind is JidKind.LID and len(value) <= MAX_JID_LENGTH
