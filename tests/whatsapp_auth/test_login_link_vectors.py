"""The original's login links, value by value; where Pombo's own rule wins, it is stated here."""

import re
from urllib.parse import urlsplit

import pytest

from apps.whatsapp_auth.errors import LoginBaseUrlMissing
from apps.whatsapp_auth.login_links import (
    CLOCK_SKEW_SECONDS,
    LoginLinkConfig,
    build_login_hint,
    build_login_url,
    first_owner_jid,
    is_login_trigger,
    resolve_owner,
    to_owner_jid,
    to_phone_digits,
)
from tests.whatsapp_auth.vectors import named, vectors

BUILT_IN_HOST = "omnizap.shop"
BASE_NAMES = ("WHATSAPP_LOGIN_BASE_URL", "SITE_ORIGIN", "PUBLIC_WEB_BASE_URL")
WORDS = {"true": True, "false": False}
RESOLVE_GROUPS = (
    "b_resolve_signed",
    "b_resolve_require_off",
    "b_resolve_no_secret",
    "b_resolve_no_secret_require_on",
    "b_resolve_blank_secret",
    "b_resolve_require_garbage",
)
URL_GROUPS = ("b_url_signed", "b_url_unsigned", "b_url_env", "b_url_path")


def seconds_from(text):
    return float(text) if re.fullmatch(r"-?[0-9.]+(e[0-9]+)?", text) else 0


def config_from(row, base_url=None):
    env = row.get("env") or {}
    bases = [base_url or "", *(env.get(name, "") for name in BASE_NAMES)]
    return LoginLinkConfig(
        secrets=(env.get("WHATSAPP_LOGIN_LINK_SECRET", ""),),
        require_signature=WORDS.get(env.get("WHATSAPP_LOGIN_REQUIRE_SIGNATURE", "")),
        ttl_seconds=seconds_from(env.get("WHATSAPP_LOGIN_LINK_TTL_SECONDS", "")),
        path=env.get("WHATSAPP_LOGIN_PATH", ""),
        base_urls=tuple(bases),
    )


def resolved(row):
    result = resolve_owner(row["input"]["payload"], config_from(row), row["input"]["nowMs"] / 1000)
    return {
        "hasPayload": result.has_payload,
        "ownerJid": result.owner_jid,
        "verified": result.verified,
        "signed": result.signed,
        "reason": result.reason,
    }


def exception_for(row):
    """The answer under Pombo's rule where it differs from the original's, or None."""
    stamp = (
        str((row["input"]["payload"] or {}).get("wa_ts", "")).strip()
        if isinstance(row["input"]["payload"], dict)
        else ""
    )
    config, was = config_from(row), row["output"]
    refused = {"hasPayload": True, "ownerJid": "", "verified": False, "signed": False}
    if was["ownerJid"] and not config.secrets and config.require_signature:
        return refused | {"reason": "missing_signature"}
    if was["verified"] and stamp and not re.fullmatch("[0-9]+", stamp):
        return refused | {"reason": "missing_signature"}
    ahead = int(stamp or 0) - row["input"]["nowMs"] // 1000 if stamp.isdigit() else 0
    if was["verified"] and ahead > CLOCK_SKEW_SECONDS:
        return refused | {"signed": True, "reason": "expired"}
    return None


@pytest.mark.parametrize("row", vectors("b_phone", fn="PhoneDigits"), ids=named)
def test_phones(row):
    assert to_phone_digits(row["input"]) == row["output"]


@pytest.mark.parametrize("row", vectors("b_phone", fn="OwnerJid"), ids=named)
def test_owners(row):
    assert to_owner_jid(row["input"]) == row["output"]


@pytest.mark.parametrize(
    "row",
    vectors("b_hint_signed", "b_hint_unsigned", "b_hint_secret_trimmed", "b_hint_secret_unicode"),
    ids=named,
)
def test_hints(row):
    now = row["input"]["nowMs"] / 1000
    assert build_login_hint(row["input"]["value"], config_from(row), now) == row["output"]


@pytest.mark.parametrize(
    "row", vectors(*RESOLVE_GROUPS, "b_config_ttl", fn="FromLoginPayload"), ids=named
)
def test_judging(row):
    assert resolved(row) == (exception_for(row) or row["output"])


def test_the_exceptions_are_the_ones_that_are_meant():
    rows = vectors(*RESOLVE_GROUPS)
    differing = [row for row in rows if exception_for(row)]
    # Three with a time that is no plain number, one as a number with a fraction, two from the
    # future and seven unsigned ones where a signature is required.
    assert len(differing) == 13


@pytest.mark.parametrize("row", vectors("b_config_ttl", "b_url_path", fn="config"), ids=named)
def test_configuration(row):
    config, expected = config_from(row), row["output"]
    assert config.ttl_seconds == expected["LOGIN_TTL_SECONDS"]
    assert config.is_signature_required == expected["REQUIRE_SIGNATURE"]
    assert bool(config.secrets) == expected["SIGNED_LINKS_ENABLED"]
    assert config.path == "/" + expected["LOGIN_PATH"].lstrip("/")


@pytest.mark.parametrize("row", vectors(*URL_GROUPS, fn="LoginUrl"), ids=named)
def test_urls(row):
    config = config_from(row, row["input"]["baseUrl"])
    now, expected = row["input"]["nowMs"] / 1000, row["output"]
    has_stranger = "$throws" in expected or urlsplit(expected).hostname == BUILT_IN_HOST
    if has_stranger:
        with pytest.raises(LoginBaseUrlMissing):
            build_login_url(row["input"]["userId"], config, now)
    else:
        assert build_login_url(row["input"]["userId"], config, now) == expected


@pytest.mark.parametrize("row", vectors("b_canonical_jid"), ids=named)
def test_first_owner(row):
    phones = [value for value in row["input"] if value and "lid" not in value]
    has_lid_first = row["input"][0] and "lid" in row["input"][0]
    expected = first_owner_jid(phones) if has_lid_first else row["output"]
    assert first_owner_jid(row["input"]) == expected


@pytest.mark.parametrize("row", vectors("b_trigger"), ids=named)
def test_triggers(row):
    trigger = (row.get("env") or {}).get("WHATSAPP_LOGIN_TRIGGER", "")
    assert is_login_trigger(row["input"], trigger) == row["output"]
