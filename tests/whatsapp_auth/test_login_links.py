import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.whatsapp_auth.errors import LoginBaseUrlMissing
from apps.whatsapp_auth.login_links import (
    CLOCK_SKEW_SECONDS,
    LoginLinkConfig,
    build_login_hint,
    build_login_url,
    extract_login_hint,
    first_owner_jid,
    is_login_trigger,
    link_id,
    resolve_owner,
    to_owner_jid,
    to_phone_digits,
)

SECRET = "test-secret-0123"
SIGNED = LoginLinkConfig(secrets=(SECRET,), base_urls=("https://pombo.example",))
UNSIGNED = LoginLinkConfig()
NOW = 1_700_000_000
PHONE = "5511987654321"
phones = st.text("0123456789", min_size=10, max_size=15)


def hint_at(seconds, config=SIGNED, phone=PHONE):
    return build_login_hint(phone, config, seconds)


@given(phone=phones, now=st.integers(1, 4_000_000_000), age=st.integers(0, 900))
def test_what_was_signed_is_verified_for_its_whole_life(phone, now, age):
    result = resolve_owner(hint_at(now, phone=phone), SIGNED, now + age)
    assert result.verified
    assert result.owner_jid == to_owner_jid(phone)


@given(field=st.sampled_from(["wa", "wa_ts", "wa_sig"]), place=st.integers(0, 63))
def test_a_changed_character_is_never_verified(field, place):
    hint = hint_at(NOW)
    place %= len(hint[field])
    changed = "1" if hint[field][place] != "1" else "2"
    hint[field] = hint[field][:place] + changed + hint[field][place + 1 :]
    assert not resolve_owner(hint, SIGNED, NOW).verified


def test_i5_a_link_from_the_future_is_accepted_within_the_clock_skew_only():
    assert resolve_owner(hint_at(NOW + CLOCK_SKEW_SECONDS), SIGNED, NOW).verified
    late = resolve_owner(hint_at(NOW + CLOCK_SKEW_SECONDS + 1), SIGNED, NOW)
    assert (late.verified, late.reason) == (False, "expired")


@pytest.mark.parametrize(
    "text", ["0x6553f100", "1.7e9", "1700000000.9", "1700 000000", "१७", "+17"]
)
def test_i11_a_time_that_is_not_plain_digits_is_missing(text):
    result = resolve_owner(hint_at(NOW) | {"wa_ts": text}, SIGNED, NOW)
    assert (result.owner_jid, result.reason) == ("", "missing_signature")


def test_i3_without_a_secret_a_required_signature_stays_required():
    config = LoginLinkConfig(require_signature=True)
    result = resolve_owner(hint_at(NOW), config, NOW)
    assert (result.owner_jid, result.reason) == ("", "missing_signature")


def test_i3_an_unsigned_hint_is_never_verified():
    assert not resolve_owner(hint_at(NOW, UNSIGNED), UNSIGNED, NOW).verified


def test_older_secrets_verify_and_the_first_signs():
    rotated = LoginLinkConfig(secrets=("new", SECRET))
    assert resolve_owner(hint_at(NOW), rotated, NOW).verified
    assert hint_at(NOW, rotated) == hint_at(NOW, LoginLinkConfig(secrets=("new",)))
    assert not resolve_owner(hint_at(NOW), LoginLinkConfig(secrets=("new",)), NOW).verified


def test_i1_lid_digits_are_never_a_phone():
    candidates = ["123456789012345:2@lid", "5511987654321@s.whatsapp.net"]
    assert first_owner_jid(candidates) == "5511987654321@s.whatsapp.net"
    assert first_owner_jid(["123456789012345@hosted.lid"]) == ""


@pytest.mark.parametrize(
    "base", ["mailto:a@b.c", "example.com:8080", "file:///srv/x", "https://", "x"]
)
def test_i11_a_base_without_a_host_gives_way_to_the_next(base):
    config = LoginLinkConfig(base_urls=(base, "https://next.example/x"))
    assert build_login_url(PHONE, config, NOW).startswith("https://next.example/login/?wa=")


@pytest.mark.parametrize(
    "path", ["//evil.example", "/\\evil.example", "\t//evil.example", "/\n/evil.example"]
)
def test_i11_a_path_cannot_change_the_host(path):
    config = LoginLinkConfig(base_urls=("https://pombo.example",), path=path)
    assert build_login_url(PHONE, config, NOW).startswith("https://pombo.example/evil.example/?")


@pytest.mark.parametrize(
    ("base", "origin"),
    [
        ("https://user:secret@pombo.example/x", "https://pombo.example"),
        ("https:\\\\pombo.example\\x", "https://pombo.example"),
        ("https://straße.example", "https://xn--strae-oqa.example"),
        ("https://pombo.example:65536", None),
        ("https://a b.example", None),
        ("https://\u3002.example", None),
    ],
)
def test_only_the_origin_of_a_base_counts(base, origin):
    config = LoginLinkConfig(base_urls=(base, "https://other.example"))
    expected = f"{origin or 'https://other.example'}/login/?"
    assert build_login_url(PHONE, config, NOW).startswith(expected)


def test_no_usable_base_is_an_error_and_not_a_strangers_site():
    with pytest.raises(LoginBaseUrlMissing):
        build_login_url(PHONE, LoginLinkConfig(secrets=(SECRET,), base_urls=("", "x")), NOW)


def test_who_has_no_phone_gets_no_link_whatever_the_base():
    assert build_login_url("123456789012345@lid", UNSIGNED, NOW) == ""


@given(
    payload=st.recursive(
        st.none() | st.text() | st.integers() | st.floats(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["wa", "wa_ts", "wa_sig", "whatsapp_login", "ts"]), inner
            )
        ),
        max_leaves=6,
    )
)
def test_no_payload_makes_the_reader_raise(payload):
    extract_login_hint(payload)
    assert not resolve_owner(payload, SIGNED, NOW).verified


@given(value=st.one_of(st.text(), st.integers(), st.floats(), st.none(), st.lists(st.text())))
def test_phone_digits_are_ten_to_fifteen_ascii_digits_or_nothing(value):
    digits = to_phone_digits(value)
    assert digits == "" or (digits.isascii() and digits.isdigit() and 10 <= len(digits) <= 15)
    assert to_phone_digits(digits) == digits


@pytest.mark.parametrize("field", ["wa", "wa_ts", "wa_sig"])
def test_half_a_surrogate_pair_is_refused_like_anything_wrong(field):
    assert not resolve_owner(hint_at(NOW) | {field: "\ud800"}, SIGNED, NOW).verified


def test_a_life_shorter_than_a_minute_is_a_minute():
    assert LoginLinkConfig(ttl_seconds=5).ttl_seconds == 60


def test_a_links_id_follows_what_the_signature_covers():
    assert link_id(PHONE, NOW) == link_id(PHONE, NOW)
    assert len({link_id(PHONE, NOW), link_id(PHONE, NOW + 1), link_id("5511987654322", NOW)}) == 3


def test_the_trigger_stands_alone():
    assert is_login_trigger(" INICIÁR ")
    assert not is_login_trigger("iniciar agora")
