"""What a bot asks about the people who write to it: who they are, and a login link for them."""

from datetime import datetime
from typing import Any

from django.conf import settings

from apps.whatsapp_auth import errors, lid_map, login_links, senders
from apps.whatsapp_auth.choices import LookupStatus
from apps.whatsapp_auth.jids import is_lid_jid, is_whatsapp_jid
from apps.whatsapp_auth.services import links


def issue_link_to_sender(
    message: Any, *, text: str | None = None, actor: str, now: datetime
) -> links.IssuedLink:
    """A login link for whoever sent this private message.

    A hidden number is looked up in the LID map; digits of a LID never stand for a number. With
    `text` the link is only made when the text asks for one. Raises OwnMessage, NotAPrivateChat,
    NotALoginRequest, PhoneUnknown and what `issue_link` raises.
    """
    sender = senders.extract_sender_info(message)
    if senders.is_from_me(message):
        raise errors.OwnMessage
    if sender["remote_jid"] and not _is_private_chat(sender["remote_jid"]):
        raise errors.NotAPrivateChat
    if text is not None and not login_links.is_login_trigger(text, settings.WHATSAPP_LOGIN_TRIGGER):
        raise errors.NotALoginRequest
    phone = sender["jid"]
    if sender["lid"] is not None:
        lid_map.learn(sender["lid"], phone, now=now)
        phone = phone or lid_map.current_phone(sender["lid"])
    if not is_whatsapp_jid(phone):
        raise errors.PhoneUnknown
    return links.issue_link(phone or "", actor=actor, now=now)


def _is_private_chat(remote_jid: str) -> bool:
    """Whether a chat is with one person; groups, status posts and newsletters are not."""
    return is_whatsapp_jid(remote_jid) or is_lid_jid(remote_jid)


def resolve_sender(value: Any, *, now: datetime) -> dict[str, Any]:
    """The identities in a message or a user, with the best address known for the person."""
    is_message = isinstance(value, dict) and "key" in value
    found: Any = (
        senders.extract_sender_info(value) if is_message else senders.extract_user_id_info(value)
    )
    user_id = lid_map.resolve_user_id(
        lid=found["lid"], jid=found["jid"], participant_alt=found["participant_alt"], now=now
    )
    return {
        "lid": found["lid"],
        "jid": found["jid"],
        "participant_alt": found["participant_alt"],
        "remote_jid": found.get("remote_jid"),
        "group_message": found.get("group_message", False),
        "user_id": user_id,
        "status": _status(found["lid"], user_id, now=now),
    }


def _status(lid: str | None, user_id: str | None, *, now: datetime) -> str:
    if is_whatsapp_jid(user_id):
        return str(LookupStatus.KNOWN)
    if lid is None:
        return str(LookupStatus.ERROR)
    return str(lid_map.resolve_many([lid], now=now)[lid].status)
