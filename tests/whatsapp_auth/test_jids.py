import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.whatsapp_auth.jids import (
    Jid,
    JidKind,
    is_group_jid,
    is_lid_jid,
    is_possible_phone,
    is_same_user,
    is_whatsapp_jid,
    jid_server,
    jid_user,
    mask_jid,
    normalize_jid,
    parse_jid,
    phone_variants,
)
from tests.whatsapp_auth.vectors import named, vectors

FUNCTIONS = {
    "normalizeJid": normalize_jid,
    "getJidServer": jid_server,
    "getJidUser": jid_user,
    "isLidJid": is_lid_jid,
    "isWhatsAppJid": is_whatsapp_jid,
    "isGroupJid": is_group_jid,
    "maskJid": mask_jid,
}
SERVERS = ["s.whatsapp.net", "c.us", "hosted", "lid", "hosted.lid"]
digits = st.text("0123456789", min_size=1, max_size=15)
jids = st.builds(
    lambda user, device, server: f"{user}{device}@{server}",
    digits,
    st.sampled_from(["", ":0", ":12", "_1", "_1:7"]),
    st.sampled_from(SERVERS),
)


@pytest.mark.parametrize("row", vectors("c_jid"), ids=named)
def test_addresses_are_read_like_the_original_reads_them(row):
    assert FUNCTIONS[row["fn"].removeprefix("jid.")](row["input"]) == row["output"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("5511987654321@s.whatsapp.net", JidKind.PHONE),
        ("5511987654321@c.us", JidKind.PHONE),
        ("5511987654321@hosted", JidKind.PHONE),
        ("157019776499771@lid", JidKind.LID),
        ("157019776499771@hosted.lid", JidKind.LID),
        ("120363012345678901@g.us", JidKind.GROUP),
        ("status@broadcast", JidKind.BROADCAST),
        ("120363144038483540@newsletter", JidKind.NEWSLETTER),
    ],
)
def test_every_server_in_use_has_a_kind(text, kind):
    assert parse_jid(text).kind is kind


@pytest.mark.parametrize(
    "value",
    [
        "",
        "noat",
        "@lid",
        "1@LID",
        "1@bot",
        "abc@lid",
        "١٢٣@lid",
        "1@lid\n",
        "1\n@lid",
        None,
        5,
        ["1@lid"],
    ],
)
def test_what_names_nobody_is_not_an_address(value):
    assert parse_jid(value) is None


def test_device_and_agent_are_kept_for_sessions_and_dropped_from_the_identity():
    jid = parse_jid("5511987654321_2:12@c.us")
    assert jid == Jid(JidKind.PHONE, "5511987654321", "c.us", device=12, agent="2")
    assert jid.identity == (JidKind.PHONE, "5511987654321")
    assert jid.base == "5511987654321@s.whatsapp.net"


def test_equal_digits_on_a_phone_and_a_lid_server_are_two_people():
    assert not is_same_user("157019776499771@lid", "157019776499771@s.whatsapp.net")


def test_servers_of_one_kind_name_the_same_person():
    assert is_same_user("5511987654321:3@c.us", "5511987654321@hosted")


def test_nothing_equals_nothing_only_for_computers():
    assert not is_same_user(None, None)


def test_l8_a_numeric_chat_id_is_no_group_and_no_crash():
    assert is_group_jid(120363) is False


def test_l9_a_number_that_ends_with_another_is_somebody_else():
    assert not is_same_user("5511987654321@s.whatsapp.net", "11987654321@s.whatsapp.net")


@given(jid=jids)
def test_normalising_twice_changes_nothing_more(jid):
    assert normalize_jid(normalize_jid(jid)) == normalize_jid(jid)


@given(jid=jids)
def test_normalising_keeps_the_identity(jid):
    assert parse_jid(normalize_jid(jid)).identity == parse_jid(jid).identity


@given(value=st.one_of(st.text(), st.integers(), st.none(), st.lists(st.text())))
def test_no_value_makes_a_reader_raise(value):
    for read in (*FUNCTIONS.values(), parse_jid):
        read(value)


@given(jid=jids)
def test_masking_hides_most_of_a_long_user(jid):
    user = jid.partition("@")[0]
    assert len(user) < 8 or user not in mask_jid(jid)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("5531996883193", "553196883193"),
        ("552164180266", "5521964180266"),
        ("5215512345678", "525512345678"),
        ("5491123456789", "541123456789"),
    ],
)
def test_national_spellings_match_one_identity(left, right):
    assert phone_variants(left) == phone_variants(right) == {left, right}


@pytest.mark.parametrize("number", ["4312345678", "14155550100", "551132345678", "491701234567"])
def test_other_numbers_have_one_spelling(number):
    assert phone_variants(number) == {number}


@given(number=st.text("0123456789", min_size=10, max_size=15))
def test_variants_are_symmetric(number):
    assert all(phone_variants(other) == phone_variants(number) for other in phone_variants(number))


def test_text_has_no_variants():
    assert phone_variants("+5511987654321") == frozenset()


def test_lid_digits_are_rarely_a_possible_phone():
    assert not is_possible_phone("157019776499771")
    assert is_possible_phone("5511987654321")
