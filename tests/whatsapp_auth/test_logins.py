from datetime import timedelta

import pytest

from apps.whatsapp_auth import errors
from apps.whatsapp_auth.models import (
    AccountNotice,
    GoogleSession,
    GoogleUser,
    LinkUse,
    LoginEvent,
)
from apps.whatsapp_auth.services import bans, links, sessions
from apps.whatsapp_auth.services.logins import preview_sign_in, sign_in
from tests.whatsapp_auth.factories import (
    ANA,
    NOW,
    OTHER_PHONE,
    PHONE,
    RUI,
    make_hint,
    make_session,
    make_user,
    signed_in,
)

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(minutes=5)


def living(account):
    return sessions.living_sessions(now=NOW).filter(google_user_id=account.sub)


def outcomes():
    return list(LoginEvent.objects.order_by("id").values_list("outcome", flat=True))


def test_a_genuine_link_signs_in_and_writes_account_session_and_audit():
    done = signed_in()
    user = GoogleUser.objects.get()
    assert (user.google_sub, user.owner_phone) == (ANA.sub, PHONE)
    assert user.owner_jid == done.opened.session.owner_jid == f"{PHONE}@s.whatsapp.net"
    assert outcomes() == ["signed_in"]


@pytest.mark.parametrize(
    ("payload", "error"),
    [
        ({}, errors.LoginLinkRequired),
        ({"wa": PHONE}, errors.LoginLinkInvalid),
        ({"wa": PHONE, "wa_ts": "1", "wa_sig": "0" * 64}, errors.LoginLinkInvalid),
    ],
)
def test_i3_without_a_verified_link_nobody_gets_in(payload, error):
    with pytest.raises(error):
        sign_in(ANA, payload, now=NOW)
    assert not GoogleUser.objects.exists()
    assert outcomes() == [error.code]


def test_i3_without_a_secret_no_link_counts(settings):
    hint = make_hint()
    settings.WHATSAPP_LOGIN_LINK_SECRET = ""
    with pytest.raises(errors.LoginLinkInvalid):
        sign_in(ANA, hint, now=NOW)


def test_i4_taking_over_a_phone_needs_consent_to_what_was_shown():
    signed_in(ANA)
    hint = make_hint(at=LATER)
    with pytest.raises(errors.ConfirmationNeeded):
        sign_in(RUI, hint, now=LATER)
    assert GoogleUser.objects.get(owner_phone=PHONE).google_sub == ANA.sub
    assert preview_sign_in(RUI, hint, now=LATER).holder_email == "a***@example.com"


def test_i4_a_take_over_is_logged_ends_sessions_and_tells_the_earlier_holder():
    signed_in(ANA)
    signed_in(RUI, at=LATER, confirmed_changes="take_over")
    assert GoogleUser.objects.get(owner_phone=PHONE).google_sub == RUI.sub
    former = GoogleUser.objects.get(pk=ANA.sub)
    assert (former.owner_jid, former.owner_phone) == ("g1001@google.oauth", None)
    assert not living(ANA).exists()
    assert AccountNotice.objects.get().google_sub == ANA.sub
    assert "phone_taken_over" in outcomes()


def test_an_account_that_changes_its_phone_agrees_first_and_loses_old_sessions():
    first = signed_in(ANA).opened
    with pytest.raises(errors.ConfirmationNeeded):
        signed_in(ANA, OTHER_PHONE, at=LATER)
    done = signed_in(ANA, OTHER_PHONE, at=LATER, confirmed_changes="change_phone")
    assert list(living(ANA)) == [done.opened.session]
    assert first.session not in living(ANA)


def test_i5_a_link_works_once():
    hint = make_hint()
    sign_in(ANA, hint, now=NOW)
    with pytest.raises(errors.LoginLinkUsed):
        sign_in(RUI, hint, confirmed_changes="take_over", now=NOW)
    with pytest.raises(errors.LoginLinkUsed):
        sign_in(ANA, hint, now=NOW + timedelta(seconds=61))
    assert LinkUse.objects.count() == 1


def test_i5_the_same_request_sent_twice_opens_one_session():
    hint = make_hint()
    first = sign_in(ANA, hint, now=NOW)
    again = sign_in(ANA, hint, now=NOW + timedelta(seconds=5))
    assert GoogleSession.objects.count() == 1
    assert again.opened.token != first.opened.token


def test_a_refused_sign_in_leaves_the_link_usable():
    signed_in(ANA)
    hint = make_hint(at=LATER)
    with pytest.raises(errors.ConfirmationNeeded):
        sign_in(RUI, hint, now=LATER)
    assert sign_in(RUI, hint, confirmed_changes="take_over", now=LATER)


def test_a_withdrawn_link_is_refused_and_a_newer_one_works():
    hint = make_hint()
    links.revoke_links(PHONE, actor="ana", now=NOW + timedelta(seconds=1))
    with pytest.raises(errors.LoginLinkRevoked):
        sign_in(ANA, hint, now=LATER)
    assert signed_in(at=LATER)


def test_i7_the_phone_always_follows_the_owner():
    make_user(ANA, owner_jid="g1001@google.oauth")
    signed_in(ANA)
    assert GoogleUser.objects.get().owner_phone == PHONE
    signed_in(RUI, at=LATER, confirmed_changes="take_over")
    assert GoogleUser.objects.get(pk=ANA.sub).owner_phone is None


@pytest.mark.parametrize(
    ("known", "linked"),
    [
        ("5531996883193", "553196883193"),
        ("525512345678", "5215512345678"),
        ("541123456789", "5491123456789"),
    ],
)
def test_report_17_a_national_spelling_is_the_same_person(known, linked):
    make_user(ANA, known)
    done = signed_in(ANA, linked)
    assert done.plan.changes == ""
    assert GoogleUser.objects.get().owner_phone == known
    with pytest.raises(errors.ConfirmationNeeded):
        signed_in(RUI, known, at=LATER)


def test_report_17_two_accounts_under_one_number_are_nobodys_to_take():
    make_user(ANA, "5531996883193")
    make_user(RUI, "553196883193")
    with pytest.raises(errors.AmbiguousPhone):
        signed_in(ANA, "5531996883193")


@pytest.mark.parametrize(
    "names",
    [{"google_sub": ANA.sub}, {"email": "ANA@example.com"}, {"owner": "551187654321"}],
)
def test_a_ban_keeps_out_and_is_not_explained(names):
    names = {"owner": PHONE} if "owner" in names else names
    bans.ban_person(**names, now=NOW)
    with pytest.raises(errors.Banned):
        signed_in(ANA)


def test_too_many_refusals_from_one_address_stop_it(settings):
    settings.LOGIN_ATTEMPTS_PER_ADDRESS = 3
    for _attempt in range(3):
        with pytest.raises(errors.LoginLinkInvalid):
            sign_in(ANA, {"wa": PHONE}, address="192.0.2.1", now=NOW)
    with pytest.raises(errors.TooManyAttempts):
        sign_in(ANA, make_hint(), address="192.0.2.1", now=NOW)
    assert sign_in(ANA, make_hint(), address="192.0.2.2", now=NOW)


def test_the_audit_names_nobody():
    signed_in(ANA, address="192.0.2.1")
    line = str(LoginEvent.objects.values().get())
    assert not any(secret in line for secret in (PHONE, ANA.sub, ANA.email, "192.0.2.1"))


def test_a_preview_changes_nothing():
    plan = preview_sign_in(ANA, make_hint(), now=NOW)
    assert plan.masked_phone == "551***21"
    assert not GoogleUser.objects.exists()
    assert not LinkUse.objects.exists()


def test_other_sessions_of_the_same_account_and_phone_stay():
    first = signed_in(ANA).opened.session
    second = signed_in(ANA, at=LATER).opened.session
    assert {first, second} == set(living(ANA))


def test_a_session_is_stored_as_a_digest_only():
    opened = make_session()
    stored = str(GoogleSession.objects.values().get())
    assert opened.token not in stored
    assert len(opened.session.session_token) == 36
