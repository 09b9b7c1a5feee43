import pytest

from apps.whatsapp_auth import errors, lid_map
from apps.whatsapp_auth.models import Ban
from apps.whatsapp_auth.queries import active_ban
from apps.whatsapp_auth.services import sessions
from apps.whatsapp_auth.services.bans import ban_person, revoke_bans
from tests.whatsapp_auth.factories import ANA, LID, NOW, PHONE, make_session

pytestmark = pytest.mark.django_db
JID = f"{PHONE}@s.whatsapp.net"


def banned(**names):
    return active_ban(**{"google_sub": None, "email": None, "owner_jid": None} | names)


@pytest.mark.parametrize(
    "names",
    [
        {"google_sub": ANA.sub},
        {"email": "ANA@Example.com"},
        {"owner": PHONE},
        {"owner": f"{PHONE}:4@c.us"},
    ],
)
def test_a_ban_ends_the_sessions_of_everybody_it_names(names):
    make_session()
    assert ban_person(**names, now=NOW).ended_session_count == 1
    assert not sessions.living_sessions(now=NOW).exists()


def test_a_ban_covers_every_spelling_of_the_number():
    ban_person(owner="553196883193", now=NOW)
    assert banned(owner_jid="5531996883193@s.whatsapp.net")
    assert not banned(owner_jid="5531996883194@s.whatsapp.net")


def test_a_ban_covers_the_lid_behind_the_number_and_the_other_way_round():
    lid_map.learn(LID, JID, now=NOW)
    ban_person(owner=LID, now=NOW)
    assert banned(owner_jid=JID)
    assert banned(owner_jid=LID)


def test_i9_a_ban_on_one_name_does_not_swallow_another():
    make_session()
    ban_person(google_sub="somebody", now=NOW)
    report = ban_person(google_sub="somebody", email=ANA.email, now=NOW)
    assert report.is_new
    assert report.ended_session_count == 1


def test_i9_the_same_ban_again_adds_no_row_but_ends_sessions():
    ban_person(google_sub=ANA.sub, now=NOW)
    make_session()
    report = ban_person(google_sub=ANA.sub, now=NOW)
    assert (report.is_new, report.ended_session_count, Ban.objects.count()) == (False, 1, 1)


def test_a_lifted_ban_lets_in_again():
    ban = ban_person(google_sub=ANA.sub, now=NOW).ban
    assert revoke_bans([ban.pk], now=NOW) == 1
    assert revoke_bans([ban.pk], now=NOW) == 0
    assert not banned(google_sub=ANA.sub)


def test_a_ban_must_name_somebody():
    with pytest.raises(errors.NothingToBan):
        ban_person(reason="because", now=NOW)


def test_equal_digits_of_a_lid_are_not_banned_with_a_phone():
    ban_person(owner=PHONE, now=NOW)
    assert not banned(owner_jid=f"{PHONE}@lid")
