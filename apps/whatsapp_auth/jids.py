"""WhatsApp addresses: what a JID is made of, whom it names, and how it is shown.

A JID reads `user_agent:device@server`. A person has two that share no digits: one on a phone server
and one on a LID server, which hides the number. Which LID belongs to which phone is known
only from the LID map; equal digits on the two kinds of server mean nothing.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import phonenumbers

MAX_JID_LENGTH = 64
PHONE_SERVER = "s.whatsapp.net"
LID_SERVER = "lid"


class JidKind(StrEnum):
    """What a JID names."""

    PHONE = "pn"
    LID = "lid"
    GROUP = "group"
    BROADCAST = "broadcast"
    NEWSLETTER = "newsletter"


KIND_OF_SERVER = {
    PHONE_SERVER: JidKind.PHONE,
    "c.us": JidKind.PHONE,
    "hosted": JidKind.PHONE,
    LID_SERVER: JidKind.LID,
    "hosted.lid": JidKind.LID,
    "g.us": JidKind.GROUP,
    "broadcast": JidKind.BROADCAST,
    "newsletter": JidKind.NEWSLETTER,
}
_DIGITS = re.compile(r"[0-9]+")


@dataclass(frozen=True, slots=True)
class _ExtraDigitRule:
    """A digit that mobile numbers of a country carry in one spelling and lack in the other."""

    extra: str
    long: re.Pattern[str]
    short: re.Pattern[str]


_EXTRA_DIGIT_RULES = (
    # Brazil: only numbers that began with 6 to 9 got the ninth digit; 2 to 5 are landlines.
    _ExtraDigitRule(
        "9", re.compile(r"(55[0-9]{2})9([6-9][0-9]{7})"), re.compile(r"(55[0-9]{2})([6-9][0-9]{7})")
    ),
    _ExtraDigitRule("1", re.compile(r"(52)1([0-9]{10})"), re.compile(r"(52)([0-9]{10})")),
    _ExtraDigitRule("9", re.compile(r"(54)9([0-9]{10})"), re.compile(r"(54)([0-9]{10})")),
)


@dataclass(frozen=True, slots=True)
class Jid:
    """A parsed address. Device and agent tell one phone or browser of a person from another."""

    kind: JidKind
    user: str
    server: str
    device: int | None = None
    agent: str = ""

    @property
    def identity(self) -> tuple[JidKind, str]:
        """Whom it names: the same for every device and every server of the kind."""
        return (self.kind, self.user)

    @property
    def address(self) -> str:
        """The address with its device but without the agent: one spelling per device."""
        return self.base if self.device is None else self.base.replace("@", f":{self.device}@")

    @property
    def base(self) -> str:
        """The address without device and agent, `c.us` as `s.whatsapp.net`."""
        return f"{self.user}@{PHONE_SERVER if self.server == 'c.us' else self.server}"


@dataclass(frozen=True, slots=True)
class _Parts:
    """A JID as cut by its separators, not judged yet."""

    user: str
    agent: str
    device: str
    server: str


def parse_jid(value: Any) -> Jid | None:
    """The address, or None when the server is unknown or the user is not one of that server.

    Phones and LIDs consist of ASCII digits; other kinds only need a name.
    """
    parts = _split(value)
    kind = KIND_OF_SERVER.get(parts.server) if parts else None
    if parts is None or kind is None or not parts.user:
        return None
    if kind in {JidKind.PHONE, JidKind.LID} and not _DIGITS.fullmatch(parts.user):
        return None
    device = int(parts.device) if _DIGITS.fullmatch(parts.device) else None
    return Jid(kind, parts.user, parts.server, device, parts.agent)


def normalize_jid(value: Any) -> str:
    """The address without device and agent, on the server in use today; '' when it has no `@`.

    Unlike `parse_jid` it judges neither server nor user.
    """
    parts = _split(value)
    if parts is None:
        return ""
    return f"{parts.user}@{PHONE_SERVER if parts.server == 'c.us' else parts.server}"


def base_jid(text: str) -> str:
    """An address without its device; text that is no address comes back as it is."""
    jid = parse_jid(text)
    return jid.base if jid else text


def phone_jid_or_none(value: Any) -> str | None:
    """A phone address normalised, None for every other kind."""
    return normalize_jid(value) if is_whatsapp_jid(value) else None


def jid_user(value: Any) -> str | None:
    """The user part, or None without one."""
    parts = _split(value)
    return parts.user or None if parts else None


def jid_server(value: Any) -> str | None:
    """The server part, or None without one. It is compared as it stands: `LID` is not `lid`."""
    parts = _split(value)
    return parts.server or None if parts else None


def is_lid_jid(value: Any) -> bool:
    """Whether the address hides its phone number."""
    return _kind_of(value) is JidKind.LID


def is_whatsapp_jid(value: Any) -> bool:
    """Whether the address is on a phone server."""
    return _kind_of(value) is JidKind.PHONE


def is_group_jid(value: Any) -> bool:
    """Whether the address is a group's."""
    return isinstance(value, str) and value.endswith("@g.us")


def is_same_user(left: Any, right: Any) -> bool:
    """Whether both name the same person without asking the LID map: never across kinds."""
    first, second = parse_jid(left), parse_jid(right)
    return first is not None and second is not None and first.identity == second.identity


def mask_jid(value: Any) -> str | None:
    """The address for logs and lists: three characters, two characters and the server."""
    if not isinstance(value, str) or not value:
        return None
    user, at, server = value.partition("@")
    if not user or (at and not server):
        return value
    return f"{user[:3]}***{user[-2:]}{at}{server}"


def phone_variants(digits: str) -> frozenset[str]:
    """Every spelling under which WhatsApp may know this number, itself included.

    Brazil (the ninth digit), Mexico (1 after 52) and Argentina (9 after 54) are written both ways,
    and no rule by area code tells which one an account has. Two accounts found under one set are
    an ambiguity for people to resolve.
    """
    if not _DIGITS.fullmatch(digits):
        return frozenset()
    return frozenset({digits}) | frozenset(
        other for other in _other_spellings(digits) if _is_mobile(max(digits, other, key=len))
    )


def is_possible_phone(digits: str) -> bool:
    """Whether a country has numbers of this length: most LIDs fail this."""
    try:
        return phonenumbers.is_possible_number(phonenumbers.parse(f"+{digits}"))
    except phonenumbers.NumberParseException:
        return False


def _split(value: Any) -> _Parts | None:
    if not isinstance(value, str) or "@" not in value:
        return None
    left, _, server = value.partition("@")
    account, *devices = left.split(":")
    user, _, agent = account.partition("_")
    return _Parts(user, agent, devices[0] if devices else "", server)


def _kind_of(value: Any) -> JidKind | None:
    parts = _split(value)
    return KIND_OF_SERVER.get(parts.server) if parts else None


def _other_spellings(digits: str) -> list[str]:
    """The spelling with the extra mobile digit for one without, and the other way round."""
    for rule in _EXTRA_DIGIT_RULES:
        long, short = rule.long.fullmatch(digits), rule.short.fullmatch(digits)
        if long:
            return ["".join(long.groups())]
        if short:
            return [short[1] + rule.extra + short[2]]
    return []


def _is_mobile(digits: str) -> bool:
    """Whether the longer spelling is a mobile number; Mexico's 1 is no longer part of the plan."""
    if digits.startswith("521"):
        digits = "52" + digits[3:]
    try:
        number = phonenumbers.parse(f"+{digits}")
    except phonenumbers.NumberParseException:
        return False
    mobile = (
        phonenumbers.PhoneNumberType.MOBILE,
        phonenumbers.PhoneNumberType.FIXED_LINE_OR_MOBILE,
    )
    return phonenumbers.number_type(number) in mobile
