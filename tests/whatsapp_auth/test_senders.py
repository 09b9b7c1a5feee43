import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.whatsapp_auth.senders import (
    extract_lid_pairs,
    extract_sender_info,
    extract_user_id_info,
    is_from_me,
)
from tests.whatsapp_auth.vectors import named, vectors

PHONE = "5511987654321@s.whatsapp.net"
LID = "123456789012345@lid"
GROUP = "120363012345678901@g.us"
PYTHON_NAMES = {"participantAlt": "participant_alt", "remoteJid": "remote_jid"}
PYTHON_NAMES["groupMessage"] = "group_message"
NEW_FIELDS = ("remoteJidAlt", "participantPn", "senderPn")
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from([PHONE, LID, GROUP]),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
key_fields = st.sampled_from(
    ["remoteJid", "participant", "participantAlt", *NEW_FIELDS, "jid", "id", "lid", "pnJid"]
)


def python_names(output):
    return {PYTHON_NAMES.get(name, name): value for name, value in output.items()}


def uses_a_new_field(row):
    key = (row["input"] or {}).get("key") or {}
    return any(name in key for name in NEW_FIELDS)


OLD_SHAPES = [row for row in vectors("c_sender") if not uses_a_new_field(row)]


@pytest.mark.parametrize("row", OLD_SHAPES, ids=named)
def test_senders_are_read_like_the_original_reads_them(row):
    assert extract_sender_info(row["input"]) == python_names(row["output"])


@pytest.mark.parametrize("row", vectors("c_user_id"), ids=named)
def test_users_are_read_like_the_original_reads_them(row):
    assert extract_user_id_info(row["input"]) == python_names(row["output"])


@pytest.mark.parametrize(
    ("key", "lid", "jid"),
    [
        pytest.param(
            {"remoteJid": LID, "remoteJidAlt": PHONE}, LID, PHONE, id="lid-addressed chat"
        ),
        pytest.param({"remoteJid": PHONE, "remoteJidAlt": LID}, LID, PHONE, id="pn-addressed chat"),
        pytest.param({"remoteJid": LID, "senderPn": PHONE}, LID, PHONE, id="older senderPn"),
        pytest.param({"remoteJid": PHONE, "senderLid": LID}, LID, PHONE, id="older senderLid"),
        pytest.param(
            {"remoteJid": LID, "senderPn": None, "participantPn": None}, LID, None, id="lid only"
        ),
        pytest.param({"remoteJid": GROUP, "participant": LID}, LID, None, id="hidden group sender"),
        pytest.param(
            {"remoteJid": GROUP, "participant": LID, "participantPn": PHONE},
            LID,
            PHONE,
            id="group with participantPn",
        ),
        pytest.param(
            {"remoteJid": GROUP, "participant": PHONE, "participantAlt": LID},
            LID,
            PHONE,
            id="group addressed by phone",
        ),
        pytest.param(
            {"remoteJid": GROUP, "participant": LID, "remoteJidAlt": PHONE},
            LID,
            None,
            id="a group's own alternative names nobody",
        ),
        pytest.param(
            {"remoteJid": "1781870949@broadcast", "remoteJidAlt": PHONE, "participant": LID},
            LID,
            PHONE,
            id="status post",
        ),
        pytest.param(
            {"remoteJid": "status@broadcast", "participant": LID, "participantAlt": PHONE},
            LID,
            PHONE,
            id="status with alternative",
        ),
        pytest.param(
            {"remoteJid": "157@hosted.lid", "remoteJidAlt": "551198@hosted"},
            "157@hosted.lid",
            "551198@hosted",
            id="hosted devices",
        ),
        pytest.param({"remoteJid": 123, "participant": [PHONE]}, None, None, id="wrong types"),
    ],
)
def test_i2_each_shape_of_a_message_gives_its_pair(key, lid, jid):
    sender = extract_sender_info({"key": key})
    assert (sender["lid"], sender["jid"]) == (lid, jid)


def test_report_15_a_key_with_only_a_lid_has_no_phone():
    lid_only = "157019776499771@lid"
    sender = extract_sender_info({"key": {"remoteJid": lid_only, "senderPn": None}})
    assert (sender["lid"], sender["jid"]) == (lid_only, None)


@pytest.mark.parametrize(
    "entry",
    [
        {"jid": LID, "attrs": {"phone_number": PHONE}},
        {"id": LID, "phoneNumber": PHONE},
        {"id": PHONE, "lid": LID},
        {"id": LID, "pnJid": PHONE},
        {"id": PHONE, "lidJid": LID},
        {"lid": LID, "pn": "5511987654321"},
        {"lid": LID, "pn": "5511987654321:12"},
    ],
)
def test_each_shape_of_a_contact_gives_its_pair(entry):
    user = extract_user_id_info(entry)
    assert (user["lid"], user["jid"]) == (LID, PHONE)


def test_a_history_sync_gives_every_pair_it_holds():
    sync = {
        "messages": [{"key": {"remoteJid": "1@lid"}}],
        "chats": [{"id": "2@lid", "pnJid": PHONE}],
        "contacts": [{"id": PHONE, "lid": "3@lid"}, {"id": PHONE}],
        "lidPnMappings": [{"lid": "4@lid", "pn": PHONE}],
        "phoneNumberToLidMappings": [{"lidJid": "5@lid", "pnJid": PHONE}],
    }
    pairs = {pair.lid: pair.jid for pair in extract_lid_pairs(sync)}
    assert pairs == {"1@lid": None, "2@lid": PHONE, "3@lid": PHONE, "4@lid": PHONE, "5@lid": PHONE}


def test_one_message_is_a_sync_of_one():
    message = {"key": {"remoteJid": LID, "remoteJidAlt": PHONE}}
    assert list(extract_lid_pairs(message)) == [(LID, PHONE)]


def test_the_bots_own_messages_are_told_apart():
    assert is_from_me({"key": {"fromMe": True}})
    assert not is_from_me({"key": {"fromMe": "true"}})


@given(payload=json_values, fields=st.dictionaries(key_fields, json_values))
def test_no_payload_makes_a_reader_raise(payload, fields):
    for value in (payload, fields, {"key": fields}, {"messages": payload, "chats": payload}):
        extract_sender_info(value)
        extract_user_id_info(value)
        list(extract_lid_pairs(value))
