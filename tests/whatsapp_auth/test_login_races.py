"""Many sign-ins at once, each on a connection of its own."""

from collections import Counter
from datetime import timedelta

import pytest

from apps.common.errors import DomainError
from apps.whatsapp_auth import errors
from apps.whatsapp_auth.models import GoogleSession, GoogleUser
from apps.whatsapp_auth.services import sessions
from apps.whatsapp_auth.services.logins import sign_in
from tests.whatsapp_auth.factories import ANA, NOW, OTHER_PHONE, PHONE, RUI, make_hint
from tests.whatsapp_auth.threads import run_at_once

pytestmark = pytest.mark.django_db(transaction=True)
SPELLINGS = ("5531996883193", "553196883193")
CONSENT = ("", "take_over")


def attempt(account, hint, now=NOW):
    """Sign in like a person at a browser: agree to whatever the page asks for."""
    for changes in CONSENT:
        try:
            return sign_in(account, hint, confirmed_changes=changes, now=now)
        except errors.ConfirmationNeeded as error:
            last = error
    return last


def test_i6_fifty_sign_ins_of_two_accounts_leave_one_holder_and_no_orphan():
    def job(number):
        account, at = (ANA, RUI)[number % 2], NOW + timedelta(seconds=number)
        hint = make_hint(at=at)
        return lambda: attempt(account, hint, now=at)

    results = run_at_once([job(number) for number in range(50)])
    kinds = Counter(type(result).__name__ for result in results)
    holder = GoogleUser.objects.get(owner_phone=PHONE)
    assert kinds["SignIn"] + kinds["ConfirmationNeeded"] == 50
    assert kinds["SignIn"] >= 25
    living = sessions.living_sessions(now=NOW)
    assert set(living.values_list("google_user_id", flat=True)) == {holder.google_sub}
    assert set(living.values_list("owner_phone", flat=True)) == {PHONE}


def test_i6_two_spellings_of_one_number_at_once_have_one_holder():
    def job(number):
        account, phone = (ANA, RUI)[number % 2], SPELLINGS[number // 2 % 2]
        hint, at = (
            make_hint(phone, NOW + timedelta(seconds=number)),
            NOW + timedelta(seconds=number),
        )
        return lambda: attempt(account, hint, now=at)

    run_at_once([job(number) for number in range(16)])
    assert GoogleUser.objects.filter(owner_phone__in=SPELLINGS).count() == 1


def test_report_14_three_posts_of_one_link_give_one_session_to_one_account():
    hint = make_hint()
    results = run_at_once([lambda account=a: attempt(account, hint) for a in (ANA, RUI, RUI)])
    assert GoogleSession.objects.filter(revoked_at=None).count() == 1
    refused = [result for result in results if isinstance(result, DomainError)]
    assert refused
    assert all(isinstance(error, errors.LoginLinkUsed) for error in refused)


def test_one_account_that_signs_in_for_two_phones_at_once_holds_one():
    hints = [make_hint(PHONE), make_hint(OTHER_PHONE)] * 3
    run_at_once([lambda hint=hint: attempt(ANA, hint) for hint in hints])
    user = GoogleUser.objects.get()
    living = sessions.living_sessions(now=NOW)
    assert set(living.values_list("owner_jid", flat=True)) == {user.owner_jid}
