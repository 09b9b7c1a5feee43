import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from apps.whatsapp_auth import errors, lid_map
from apps.whatsapp_auth.models import (
    GoogleSession,
    GoogleUser,
    LidHistory,
    LidMapping,
    LinkUse,
    LoginEvent,
)
from apps.whatsapp_auth.services import personal_data, retention
from apps.whatsapp_auth.services.logins import sign_in
from tests.whatsapp_auth.factories import (
    ANA,
    LID,
    NOW,
    OTHER_PHONE,
    PHONE,
    RUI,
    make_hint,
    make_session,
    signed_in,
)

pytestmark = pytest.mark.django_db
JID = f"{PHONE}@s.whatsapp.net"


@pytest.fixture
def ana():
    lid_map.learn(LID, JID, now=NOW)
    signed_in(ANA)
    make_session(RUI, OTHER_PHONE)


@pytest.mark.parametrize("who", [ANA.sub, ANA.email, PHONE, JID, LID, "+55 11 98765-4321"])
def test_a_person_is_found_by_every_name(ana, who):
    whose = personal_data.identify(who)
    assert whose.google_subs == {ANA.sub}
    assert {JID, LID} <= whose.addresses


def test_who_is_nowhere_is_not_found(ana):
    with pytest.raises(errors.PersonNotFound):
        personal_data.identify("4915112345678")


def test_an_export_holds_everything_but_secrets(ana):
    whose = personal_data.identify(PHONE)
    data = personal_data.export_person(whose, actor="ana", now=NOW)
    assert data["accounts"][0]["email"] == ANA.email
    assert data["lid_mappings"][0]["lid"] == LID
    text = json.dumps(data)
    assert GoogleSession.objects.get(google_user=ANA.sub).session_token not in text
    assert RUI.email not in text


def test_an_erasure_leaves_nothing_of_the_person_and_all_of_others(ana):
    personal_data.erase_person(personal_data.identify(PHONE), actor="ana", now=NOW)
    assert list(GoogleUser.objects.values_list("google_sub", flat=True)) == [RUI.sub]
    assert GoogleSession.objects.count() == 1
    for model in (LidMapping, LidHistory, LinkUse):
        assert not model.objects.exists()
    assert list(LoginEvent.objects.values_list("outcome", flat=True)) == ["data_erased"]


def test_an_open_link_does_not_bring_an_erased_person_back(ana):
    hint = make_hint(at=NOW + timedelta(seconds=5))
    whose = personal_data.identify(PHONE)
    personal_data.erase_person(whose, actor="ana", now=NOW + timedelta(seconds=10))
    with pytest.raises(errors.LoginLinkRevoked):
        sign_in(ANA, hint, now=NOW + timedelta(seconds=20))


@pytest.fixture
def packs(monkeypatch):
    """Another app that keeps packs by owner address."""
    kept = {f"{OTHER_PHONE}@s.whatsapp.net": "a pack"}

    def export(addresses):
        return [name for jid, name in kept.items() if jid in addresses]

    def erase(addresses):
        return len([kept.pop(jid) for jid in list(kept) if jid in addresses])

    monkeypatch.setitem(personal_data.SECTIONS, "packs", personal_data.Section(export, erase))
    return kept


def test_other_apps_take_part(packs):
    whose = personal_data.identify(OTHER_PHONE)
    assert personal_data.count_person(whose)["packs"] == 1
    assert personal_data.export_person(whose, actor="ana", now=NOW)["packs"] == ["a pack"]
    assert personal_data.erase_person(whose, actor="ana", now=NOW)["packs"] == 1
    assert not packs


def run(*arguments):
    out, err = StringIO(), StringIO()
    call_command("person", *arguments, stdout=out, stderr=err)
    return out.getvalue()


def test_the_command_erases_only_when_told_twice(ana):
    assert "accounts\t1" in run("erase", PHONE)
    assert GoogleUser.objects.filter(pk=ANA.sub).exists()
    assert "accounts\t1" in run("erase", PHONE, "--yes")
    assert not GoogleUser.objects.filter(pk=ANA.sub).exists()


def test_the_command_exports_json(ana):
    assert json.loads(run("export", ANA.email))["accounts"][0]["google_sub"] == ANA.sub


def test_the_command_says_when_nobody_is_found():
    with pytest.raises(CommandError):
        run("export", "4915112345678")


def test_everything_past_its_period_is_forgotten_and_the_rest_kept(ana):
    assert sum(retention.prune(now=NOW + timedelta(minutes=1)).values()) == 0
    counts = retention.prune(now=NOW + timedelta(days=400))
    assert counts["sessions"] == 2
    assert counts["sign_in_events"] == 1
    assert counts["used_links"] == 1
    assert counts["lid_mappings"] == 0
    LidMapping.objects.update(last_seen=NOW)
    assert retention.prune(now=NOW + timedelta(days=731))["lid_mappings"] == 1
    assert GoogleUser.objects.count() == 2
