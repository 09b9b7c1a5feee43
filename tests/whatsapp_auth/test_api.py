import json
import subprocess
import sys
from datetime import timedelta

import pytest
from django.conf import settings
from django.core.cache import cache
from django.db import OperationalError, connection
from django.utils import timezone
from rest_framework.test import APIClient

from apps.whatsapp_auth import lid_map
from apps.whatsapp_auth.models import GoogleSession, GoogleUser, LidMapping
from apps.whatsapp_auth.services import bans, sessions
from tests.whatsapp_auth.factories import (
    ANA,
    LID,
    OTHER_PHONE,
    PHONE,
    RUI,
    make_hint,
    make_session,
)
from tests.whatsapp_auth.provider import PROVIDER_ACCOUNTS, running_provider

pytestmark = pytest.mark.django_db
API = "/api/v1/whatsapp"
JID = f"{PHONE}@s.whatsapp.net"
GROUP = "120363012345678901@g.us"


@pytest.fixture
def bot(api_as):
    return api_as("whatsapp:read", "whatsapp:write")


def person_client(opened, **kwargs):
    client = APIClient(**kwargs)
    client.cookies[settings.WEB_SESSION_COOKIE_NAME] = opened.token
    return client


def test_a_sender_is_resolved_through_the_map(bot):
    lid_map.learn(LID, JID)
    message = {"key": {"remoteJid": GROUP, "participant": LID}}
    sender = bot.post(f"{API}/senders:resolve", {"message": message}).json()["sender"]
    assert (sender["user_id"], sender["status"], sender["group_message"]) == (JID, "known", True)


def test_many_lids_are_told_apart(bot):
    LidMapping.objects.create(lid=LID, jid=None)
    answer = bot.post(f"{API}/senders:resolve", {"lids": [LID, "1@lid", JID]}).json()
    statuses = [row["status"] for row in answer["results"]]
    assert statuses == ["hidden", "unknown", "error"]


def test_report_16_a_group_sender_is_the_owner_only_through_the_map(bot):
    message = {"key": {"remoteJid": GROUP, "participant": LID}}
    before = bot.post(f"{API}/senders:resolve", {"message": message}).json()["sender"]
    lid_map.learn(LID, JID)
    after = bot.post(f"{API}/senders:resolve", {"message": message}).json()["sender"]
    assert (before["user_id"], after["user_id"]) == (LID, JID)


def test_pairs_and_payloads_are_learnt_and_bad_ones_named(bot):
    lesson = {
        "pairs": [{"lid": LID, "jid": JID}, {"lid": "x", "jid": JID}],
        "payload": {"contacts": [{"id": f"{OTHER_PHONE}@s.whatsapp.net", "lid": "7@lid"}]},
    }
    answer = bot.post(f"{API}/senders:learn", lesson).json()
    assert (answer["written_count"], answer["rejected"]) == (2, {"x": "not_a_lid"})
    assert LidMapping.objects.filter(jid__isnull=False).count() == 2


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("senders:resolve", {"user": "a\x00@lid"}),
        ("senders:resolve", {"user": {"lid": "\ud800@lid", "jid": 5}}),
        ("senders:resolve", {"message": {"key": "x"}}),
        ("senders:learn", {"pairs": [{"lid": "\ud800@lid", "jid": "\x00"}], "source": "x"}),
        ("senders:learn", {"payload": {"messages": 5, "contacts": [None, 7, []]}}),
        ("senders:learn", {"pairs": [], "source": "\ud800"}),
        ("login-links", {"message": {"key": {"remoteJid": "\ud800@s.whatsapp.net"}}}),
        ("login-links", [1]),
        ("auth/google/session", {"id_token": "\ud800", "wa": {"x": []}}),
    ],
)
def test_strange_values_are_answered_and_never_break(bot, path, data, settings):
    settings.GOOGLE_CLIENT_ID = ""
    answer = bot.post(f"{API}/{path}", json.dumps(data), content_type="application/json")
    assert answer.status_code in {200, 400, 409, 503}


def test_i2_a_link_is_made_from_the_alternative_address(bot):
    message = {"key": {"remoteJid": LID, "remoteJidAlt": JID}}
    answer = bot.post(f"{API}/login-links", {"message": message})
    assert answer.status_code == 201
    assert f"wa={PHONE}&" in answer.json()["url"]
    assert answer.json()["masked_phone"] == "551***21"


def test_a_hidden_sender_gets_a_link_when_the_map_knows_the_phone(bot):
    lid_map.learn(LID, JID)
    answer = bot.post(f"{API}/login-links", {"message": {"key": {"remoteJid": LID}}})
    assert f"wa={PHONE}&" in answer.json()["url"]


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        ({"message": {"key": {"remoteJid": "157019776499771@lid"}}}, "phone_unknown"),
        ({"user_id": "157019776499771@lid"}, "phone_unknown"),
        ({"user_id": "157019776499771@c.us"}, "phone_unknown"),
        ({"message": {"key": {"remoteJid": GROUP, "participant": JID}}}, "not_a_private_chat"),
        (
            {"message": {"key": {"remoteJid": "status@broadcast", "participant": JID}}},
            "not_a_private_chat",
        ),
        ({"message": {"key": {"remoteJid": JID, "fromMe": True}}}, "own_message"),
        ({"message": {"key": {"remoteJid": JID}}, "text": "hello"}, "not_a_login_request"),
        ({"message": {}}, "phone_unknown"),
        ({}, "invalid_input"),
    ],
)
def test_i1_no_link_is_made_for_what_is_not_surely_a_phone(bot, wish, code):
    answer = bot.post(f"{API}/login-links", wish)
    assert answer.json()["error"]["code"] == code


def test_i1_digits_of_a_known_lid_on_a_phone_server_get_no_link(bot):
    digits = "14155550100"
    LidMapping.objects.create(lid=f"{digits}@lid")
    answer = bot.post(f"{API}/login-links", {"user_id": f"{digits}@c.us"})
    assert answer.json()["error"]["code"] == "phone_unknown"


def test_links_of_one_phone_are_limited(bot, settings):
    settings.LOGIN_LINKS_PER_PHONE = 2
    codes = [bot.post(f"{API}/login-links", {"user_id": PHONE}).status_code for _n in range(3)]
    assert codes == [201, 201, 429]


def test_links_are_called_back(bot):
    assert bot.post(f"{API}/login-links:revoke", {"user_id": PHONE}).status_code == 204


@pytest.mark.parametrize("path", ["senders:resolve", "senders:learn", "login-links"])
def test_without_the_scope_nothing_is_answered(path, api_as, anonymous_api):
    assert anonymous_api.post(f"{API}/{path}", {}).status_code == 401
    assert api_as("flags:read").post(f"{API}/{path}", {}).status_code == 403


@pytest.fixture(scope="module")
def provider():
    with running_provider() as running:
        yield running


@pytest.fixture
def google(settings, provider):
    settings.GOOGLE_ISSUER = provider.issuer
    settings.GOOGLE_CLIENT_ID = provider.client_id
    provider.claim_overrides = {}
    return provider


def test_an_id_token_with_a_link_signs_in(google, anonymous_api):
    wish = {"google_id_token": google.id_token(PROVIDER_ACCOUNTS[0])}
    answer = anonymous_api.post(f"{API}/auth/google/session", wish | make_hint(at=timezone.now()))
    assert answer.status_code == 201
    assert anonymous_api.get(f"{API}/auth/google/session").json()["owner_phone"] == PHONE


def test_an_id_token_without_a_link_is_refused(google, anonymous_api):
    wish = {"id_token": google.id_token(PROVIDER_ACCOUNTS[0])}
    answer = anonymous_api.post(f"{API}/auth/google/session", wish)
    assert answer.json()["error"]["code"] == "login_link_required"
    assert not GoogleUser.objects.exists()


@pytest.mark.parametrize("claims", [{"aud": "other"}, {"exp": 1}, {"email_verified": "no"}])
def test_a_bad_id_token_is_refused(google, anonymous_api, claims):
    google.claim_overrides = claims
    wish = {"id_token": google.id_token(PROVIDER_ACCOUNTS[0])} | make_hint(at=timezone.now())
    assert anonymous_api.post(f"{API}/auth/google/session", wish).status_code == 403


def test_one_sees_and_ends_only_ones_own_sessions():
    opened = make_session(now=timezone.now())
    second = make_session(now=timezone.now()).session
    other = make_session(RUI, OTHER_PHONE, now=timezone.now()).session
    client = person_client(opened)
    refs = {row["session_ref"] for row in client.get(f"{API}/sessions").json()}
    assert refs == {opened.session.session_token[:12], second.session_token[:12]}
    assert client.delete(f"{API}/sessions/{second.session_token[:12]}").status_code == 204
    assert client.delete(f"{API}/sessions/{other.session_token[:12]}").status_code == 404


def test_signing_out_by_the_api_ends_the_session():
    opened = make_session(now=timezone.now())
    client = person_client(opened)
    assert client.delete(f"{API}/auth/google/session").status_code == 204
    assert client.get(f"{API}/auth/google/session").status_code in {401, 403}


def test_a_change_by_cookie_needs_the_csrf_token():
    client = person_client(make_session(now=timezone.now()), enforce_csrf_checks=True)
    assert client.delete(f"{API}/auth/google/session").status_code == 403
    assert client.get(f"{API}/auth/google/session").status_code == 200


def test_i8_a_database_blip_signs_nobody_out():
    client = person_client(make_session(now=timezone.now()))

    def fail_on_bans(execute, sql, params, many, context):
        if "sticker_web_admin_ban" in sql:
            raise OperationalError("server has gone away")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(fail_on_bans):
        answer = client.get(f"{API}/auth/google/session")
    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "session_check_unavailable"
    assert not answer.cookies
    assert client.get(f"{API}/auth/google/session").status_code == 200


def test_a_ban_ends_the_session_at_once():
    client = person_client(make_session(now=timezone.now()))
    bans.ban_person(owner=PHONE, now=timezone.now())
    assert client.get(f"{API}/auth/google/session").status_code in {401, 403}


def test_i9_no_answer_shows_a_session_token(owner):
    opened = make_session(now=timezone.now())
    client = person_client(opened)
    for path in ("auth/google/session", "sessions"):
        text = client.get(f"{API}/{path}").content.decode()
        assert opened.token not in text
        assert opened.session.session_token not in text


def test_i10_a_session_lives_in_the_database_and_in_no_process():
    opened = make_session(now=timezone.now())
    cache.clear()
    code = (
        "import django; django.setup()\n"
        "from apps.whatsapp_auth.digests import session_digest\n"
        f"print(session_digest({opened.token!r}))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert sessions.living_sessions(now=timezone.now()).get().pk == answer.stdout.strip()


@pytest.mark.parametrize("cookie", ["", "x", "y" * 5000, "é", "a; b"])
def test_a_made_up_cookie_is_nobody(cookie):
    make_session(now=timezone.now())
    client = APIClient()
    client.cookies[settings.WEB_SESSION_COOKIE_NAME] = cookie
    assert client.get(f"{API}/auth/google/session").status_code in {401, 403}


def test_the_stored_digest_is_no_cookie():
    digest = make_session(now=timezone.now()).session.session_token
    client = APIClient()
    client.cookies[settings.WEB_SESSION_COOKIE_NAME] = digest
    assert client.get(f"{API}/auth/google/session").status_code in {401, 403}


def test_checking_a_session_costs_three_queries(django_assert_num_queries):
    client = person_client(make_session(now=timezone.now()))
    with django_assert_num_queries(3):
        assert client.get(f"{API}/auth/google/session").status_code == 200


def test_being_seen_is_noted_once_per_interval():
    opened = make_session(now=timezone.now() - timedelta(minutes=5))
    client = person_client(opened)
    client.get(f"{API}/auth/google/session")
    seen = GoogleSession.objects.get().last_seen_at
    client.get(f"{API}/auth/google/session")
    assert GoogleSession.objects.get().last_seen_at == seen
    assert sessions.living_sessions(now=timezone.now()).get().google_user_id == ANA.sub
