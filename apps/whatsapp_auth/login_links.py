"""Login links: how a bot states, in a URL, which phone number it talked to.

A hint is the phone's digits, the second it was written, and an HMAC-SHA-256 over both. The secret
is shared with bots that build links themselves, so the format is fixed: `wa`, `wa_ts`, `wa_sig`.
This module decides whether a hint is genuine and fresh; that it works once is for the services.
"""

import hashlib
import hmac
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from apps.common.parsing import js_string, js_trim
from apps.whatsapp_auth.errors import LoginBaseUrlMissing
from apps.whatsapp_auth.jids import (
    PHONE_SERVER,
    is_whatsapp_jid,
    jid_user,
    normalize_jid,
)
from apps.whatsapp_auth.site_urls import DEFAULT_PATH, encode_path, normalize_path, origin_of

DEFAULT_TTL_SECONDS = 900
MIN_TTL_SECONDS = 60
CLOCK_SKEW_SECONDS = 30
DEFAULT_TRIGGER = "iniciar"
PHONE_LENGTHS = range(10, 16)

PHONE_NAMES = ("wa", "whatsapp_phone", "owner_phone")
TIME_NAMES = ("wa_ts", "whatsapp_ts", "owner_phone_ts")
SIGNATURE_NAMES = ("wa_sig", "whatsapp_sig", "owner_phone_sig")
NESTED_NAME = "whatsapp_login"

_NOT_DIGITS = re.compile(r"[^0-9]+")


class Refusal(StrEnum):
    """Why a hint names no owner."""

    INVALID_PHONE = "invalid_phone"
    MISSING_SIGNATURE = "missing_signature"
    EXPIRED = "expired"
    INVALID_SIGNATURE = "invalid_signature"


@dataclass(frozen=True, slots=True)
class LoginLinkConfig:
    """How links are signed and where they point.

    The first secret signs, all of them verify. Without a secret hints are unsigned, and accepted
    unless `require_signature` says otherwise (None: required when there is a secret). `ttl_seconds`
    is at least 60. `base_urls` are tried in order; only the origin of the first usable one counts.
    """

    secrets: tuple[str, ...] = ()
    require_signature: bool | None = None
    ttl_seconds: float = DEFAULT_TTL_SECONDS
    path: str = DEFAULT_PATH
    base_urls: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        secrets = tuple(secret for given in self.secrets if (secret := js_trim(given)))
        object.__setattr__(self, "secrets", secrets)
        object.__setattr__(self, "path", normalize_path(self.path))
        seconds = max(self.ttl_seconds or DEFAULT_TTL_SECONDS, MIN_TTL_SECONDS)
        object.__setattr__(self, "ttl_seconds", seconds)

    @property
    def is_signature_required(self) -> bool:
        """Whether a hint without a valid signature is refused."""
        return bool(self.secrets) if self.require_signature is None else self.require_signature


@dataclass(frozen=True, slots=True)
class LoginHintResult:
    """What a payload's hint says. `owner_jid` is '' unless it was accepted; `reason` tells why.

    `verified` means signed by us and fresh: only then does the hint prove anything.
    """

    has_payload: bool
    owner_jid: str = ""
    verified: bool = False
    signed: bool = False
    reason: str = ""


def to_phone_digits(value: Any) -> str:
    """The 10 to 15 digits of a phone or of an address on a phone server, otherwise ''.

    Digits of LIDs, groups and other servers are never a phone.
    """
    text = js_trim(js_string(value or ""))
    if "@" in text:
        text = (jid_user(normalize_jid(text)) or "") if is_whatsapp_jid(text) else ""
    digits = _NOT_DIGITS.sub("", text)
    return digits if len(digits) in PHONE_LENGTHS else ""


def to_owner_jid(value: Any) -> str:
    """The address under which a phone owns things, or ''."""
    digits = to_phone_digits(value)
    return f"{digits}@{PHONE_SERVER}" if digits else ""


def first_owner_jid(candidates: Iterable[Any]) -> str:
    """The owner address of the first candidate on a phone server, or ''; bare digits do not count.

    A LID before it is passed over: its digits would name a stranger.
    """
    jids = (to_owner_jid(candidate) for candidate in candidates if "@" in js_string(candidate))
    return next(filter(None, jids), "")


def is_login_trigger(text: Any, trigger: str = DEFAULT_TRIGGER) -> bool:
    """Whether a chat message asks for a login link: the word alone, in any case or accent."""
    word = js_trim(trigger).lower() or DEFAULT_TRIGGER
    decomposed = unicodedata.normalize("NFD", js_trim(js_string(text)).lower())
    return "".join(mark for mark in decomposed if not "\u0300" <= mark <= "\u036f") == word


def build_login_hint(
    value: Any, config: LoginLinkConfig, now: datetime | float
) -> dict[str, str] | None:
    """The hint for a phone or phone address, or None when it is neither.

    `now` is a moment or a number of Unix seconds; fractions are dropped.
    """
    digits = to_phone_digits(value)
    if not digits:
        return None
    seconds = str(_unix_seconds(now))
    hint = {"wa": digits, "wa_ts": seconds}
    if config.secrets:
        hint["wa_sig"] = _signature(config.secrets[0], digits, seconds)
    return hint


def build_login_url(user_id: Any, config: LoginLinkConfig, now: datetime | float) -> str:
    """The link for a phone or phone address, or '' when it is neither.

    Raises LoginBaseUrlMissing when no base URL is usable: a link to a stranger's site would hand
    the hint over.
    """
    hint = build_login_hint(user_id, config, now)
    if hint is None:
        return ""
    origin = next(filter(None, map(origin_of, config.base_urls)), None)
    if origin is None:
        raise LoginBaseUrlMissing
    path, _, fragment = config.path.partition("#")
    path, _, query = path.partition("?")
    fields = [pair for pair in parse_qsl(query, keep_blank_values=True) if pair[0] not in hint]
    address = f"{origin}{encode_path(path)}?{urlencode([*fields, *hint.items()])}"
    return f"{address}#{quote(fragment, safe='/?')}" if fragment else address


def extract_login_hint(payload: Any) -> dict[str, str]:
    """`wa`, `wa_ts` and `wa_sig` from every spelling that clients use, '' where there is none.

    The first field that is present wins, even when it is empty.
    """
    source = payload if isinstance(payload, Mapping) else {}
    nested = source.get(NESTED_NAME)
    nested = nested if isinstance(nested, Mapping) else {}
    return {
        "wa": _first_present(source, PHONE_NAMES, nested, ("wa", "phone")),
        "wa_ts": _first_present(source, TIME_NAMES, nested, ("wa_ts", "ts")),
        "wa_sig": _first_present(source, SIGNATURE_NAMES, nested, ("wa_sig", "sig")),
    }


def resolve_owner(payload: Any, config: LoginLinkConfig, now: datetime | float) -> LoginHintResult:
    """Judge the hint in a payload. Nothing is consumed and nothing raised: see `reason`."""
    hint = extract_login_hint(payload)
    if not any(hint.values()):
        return LoginHintResult(has_payload=False)
    digits = to_phone_digits(hint["wa"])
    if not digits:
        return _refused(Refusal.INVALID_PHONE)
    seconds = _written_at(hint["wa_ts"])
    if not (config.secrets and seconds and hint["wa_sig"]):
        if config.is_signature_required:
            return _refused(Refusal.MISSING_SIGNATURE)
        return LoginHintResult(has_payload=True, owner_jid=to_owner_jid(digits))
    if not -CLOCK_SKEW_SECONDS <= _unix_seconds(now) - seconds <= config.ttl_seconds:
        return _refused(Refusal.EXPIRED, signed=True)
    if not _is_signed_by_any(config.secrets, digits, str(seconds), hint["wa_sig"]):
        return _refused(Refusal.INVALID_SIGNATURE, signed=True)
    return LoginHintResult(
        has_payload=True, owner_jid=to_owner_jid(digits), verified=True, signed=True
    )


def link_id(digits: str, seconds: int) -> str:
    """The name of a link in the tables: 64 hex of SHA-256 over what the signature covers."""
    return hashlib.sha256(f"{digits}.{seconds}".encode()).hexdigest()


def hint_id(hint: Mapping[str, str]) -> str:
    """The `link_id` of an extracted hint: tells hints apart, proves nothing."""
    return link_id(to_phone_digits(hint["wa"]), _written_at(hint["wa_ts"]))


def _refused(reason: Refusal, *, signed: bool = False) -> LoginHintResult:
    return LoginHintResult(has_payload=True, signed=signed, reason=reason.value)


def _signature(secret: str, digits: str, seconds: str) -> str:
    return hmac.new(secret.encode(), f"{digits}.{seconds}".encode(), hashlib.sha256).hexdigest()


def _is_signed_by_any(secrets: tuple[str, ...], digits: str, seconds: str, given: str) -> bool:
    # Half a surrogate pair can come in JSON; it is wrong, and no reason to fall over.
    shown = given.lower().encode(errors="surrogatepass")
    # Every secret is tried, so that the time taken does not tell which one matched.
    matches = [
        hmac.compare_digest(_signature(secret, digits, seconds).encode(), shown)
        for secret in secrets
    ]
    return any(matches)


def _written_at(text: str) -> int:
    """Unix seconds from plain ASCII digits; 0 for anything else, hex and exponents included."""
    return int(text) if re.fullmatch(r"[0-9]{1,15}", text) else 0


def _unix_seconds(now: datetime | float) -> int:
    return math.floor(now.timestamp() if isinstance(now, datetime) else now)


def _first_present(
    source: Mapping[str, Any],
    names: tuple[str, ...],
    nested: Mapping[str, Any],
    nested_names: tuple[str, ...],
) -> str:
    values = [source.get(name) for name in names] + [nested.get(name) for name in nested_names]
    return js_trim(js_string(next((value for value in values if value is not None), "")))
