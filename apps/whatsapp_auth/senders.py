"""Who sent a WhatsApp message: the LID and the phone address found in what a bot received.

Bots pass on what their library gives them (Baileys 6 and 7, whatsmeow bridges), and each version
puts the second identity of a sender into another field. A field named `…Alt` holds *the other kind*
of the one beside it, so every value is judged by its server, never by its field's name. Values come
back as they were sent; whoever stores them parses them with `jids`.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypedDict

from apps.whatsapp_auth.jids import (
    PHONE_SERVER,
    is_group_jid,
    is_lid_jid,
    is_whatsapp_jid,
    normalize_jid,
)

PHONE_FIELDS = ("phoneNumber", "phone_number", "pn", "pnJid", "participantPn", "senderPn")
LID_FIELDS = ("lid", "lidJid", "participantLid", "senderLid")
PAIR_LISTS = ("lidPnMappings", "phoneNumberToLidMappings", "contacts", "chats")
_BARE_PHONE = re.compile(r"[0-9]{5,15}(:[0-9]{1,3})?")


class SenderInfo(TypedDict):
    """The two identities of a message's sender and the chat it came through."""

    lid: str | None
    jid: str | None
    participant_alt: str | None
    remote_jid: str | None
    group_message: bool


class UserIdInfo(TypedDict):
    """The two identities of a user; `raw` is the first address given, of whatever type."""

    lid: str | None
    jid: str | None
    participant_alt: str | None
    raw: Any


class LidPair(NamedTuple):
    """A LID and the phone address that belongs to it, as reported; the phone may be unknown."""

    lid: str
    jid: str | None


def extract_sender_info(message: Any) -> SenderInfo:
    """Identities of the sender of one received message; all None when there is no usable key."""
    key = _mapping(_mapping(message).get("key"))
    remote_jid = _text(key, "remoteJid")
    participant = _text(key, "participant")
    participant_alt = _text(key, "participantAlt")
    is_group = is_group_jid(remote_jid)
    if is_group:
        # The alternative wins for the phone and the participant for the LID. A group's own
        # alternative address names nobody.
        phones = [participant_alt, participant, _text(key, "participantPn"), _text(key, "senderPn")]
        lids = [participant, participant_alt, _text(key, "participantLid"), _text(key, "senderLid")]
    else:
        remote_alt = _text(key, "remoteJidAlt")
        phones = [remote_jid, participant, participant_alt, remote_alt]
        phones += [_text(key, "senderPn"), _text(key, "participantPn")]
        lids = [participant, remote_jid, participant_alt, remote_alt]
        lids += [_text(key, "senderLid"), _text(key, "participantLid")]
    return SenderInfo(
        lid=next(filter(is_lid_jid, lids), None),
        jid=next(filter(is_whatsapp_jid, phones), None),
        participant_alt=participant_alt,
        remote_jid=remote_jid,
        group_message=is_group,
    )


def extract_user_id_info(value: Any) -> UserIdInfo:
    """Identities in a text, a contact, a participant or a mapping; all None when there are none.

    Raises nothing: values that are not text are passed over, `raw` alone repeats them.
    """
    if isinstance(value, str) and value:
        return UserIdInfo(
            lid=value if is_lid_jid(value) else None,
            jid=value if is_whatsapp_jid(value) else None,
            participant_alt=None,
            raw=value,
        )
    return _identities_of(_mapping(value))


def extract_lid_pairs(payload: Any) -> Iterator[LidPair]:
    """Every LID, with its phone where known, in a message, a contact or a history sync.

    A history sync brings them in `chats`, `contacts` and lists of mappings, where its message keys
    often have none.
    """
    source = _mapping(payload)
    messages = source.get("messages")
    for message in messages if isinstance(messages, list) else [source]:
        sender = extract_sender_info(message)
        yield from _pair(sender["lid"], sender["jid"])
    for name in PAIR_LISTS:
        entries = source.get(name)
        for entry in entries if isinstance(entries, list) else []:
            yield from _pair_of_entry(entry)
    yield from _pair_of_entry(source)


def is_from_me(message: Any) -> bool:
    """Whether the bot itself sent the message, so that its key names the other side."""
    return _mapping(_mapping(message).get("key")).get("fromMe") is True


def _identities_of(source: Mapping[str, Any]) -> UserIdInfo:
    alt, participant = _text(source, "participantAlt"), _text(source, "participant")
    jid_candidate = source.get("jid") or source.get("id") or alt or participant or None
    lid_candidate = (
        source.get("lid") or participant or alt or source.get("id") or source.get("jid") or None
    )
    lids = [lid_candidate, alt, participant, *(_text(source, name) for name in LID_FIELDS)]
    phones = [jid_candidate, alt, participant, *_phone_fields(source)]
    jid = next((phone for phone in phones if is_whatsapp_jid(phone)), None)
    return UserIdInfo(
        lid=next(filter(is_lid_jid, lids), None),
        jid=normalize_jid(jid) if jid else None,
        participant_alt=alt,
        raw=jid_candidate or lid_candidate,
    )


def _phone_fields(source: Mapping[str, Any]) -> Iterator[str | None]:
    """Fields that name a phone, those of `attrs` too; bare digits become an address."""
    for fields in (source, _mapping(source.get("attrs"))):
        for name in PHONE_FIELDS:
            text = _text(fields, name)
            bare = text is not None and _BARE_PHONE.fullmatch(text)
            yield f"{text}@{PHONE_SERVER}" if bare else text


def _pair_of_entry(entry: Any) -> Iterator[LidPair]:
    user = extract_user_id_info(entry)
    yield from _pair(user["lid"], user["jid"])


def _pair(lid: str | None, jid: str | None) -> Iterator[LidPair]:
    if lid is not None:
        yield LidPair(lid, jid)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(source: Mapping[str, Any], name: str) -> str | None:
    value = source.get(name)
    return value if isinstance(value, str) and value else None
