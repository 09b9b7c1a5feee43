"""The pages of sign-in, from the link to the account, against a local OpenID provider."""

from datetime import timedelta
from urllib.parse import urlsplit

import pytest
import requests
from django.conf import settings as django_settings
from django.db import OperationalError, connection
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from apps.whatsapp_auth.models import AccountNotice, GoogleSession, GoogleUser, LinkUse
from apps.whatsapp_auth.services import links, sessions
from tests.whatsapp_auth.factories import ANA, OTHER_PHONE, PHONE, RUI, make_hint, make_session
from tests.whatsapp_auth.provider import PROVIDER_ACCOUNTS, running_provider

pytestmark = pytest.mark.django_db
FINISH = "login-finish"


@pytest.fixture(scope="module")
def provider():
    with running_provider() as running:
        yield running


@pytest.fixture(autouse=True)
def google(settings, provider):
    settings.GOOGLE_ISSUER = provider.issuer
    settings.GOOGLE_CLIENT_ID = provider.client_id
    provider.claim_overrides = {}


def open_link(client, phone=PHONE, hint=None):
    return client.get(reverse("login"), hint or make_hint(phone, timezone.now()))


def choose_account(client, account):
    """Go to the provider and come back, as a browser does."""
    away = client.get(reverse("login-google"))
    choice = requests.get(
        away.url.replace("/authorize", "/choose") + f"&sub={account.sub}",
        allow_redirects=False,
        timeout=5,
    )
    back = urlsplit(choice.headers["Location"])
    return client.get(f"{back.path}?{back.query}", follow=True)


def press_confirm(client, page):
    form = {name: page.context[name] for name in ("link",)}
    return client.post(reverse(FINISH), form | {"changes": page.context["plan"].changes})


def sign_in_by_browser(client, account=ANA, phone=PHONE, hint=None):
    open_link(client, phone, hint)
    return press_confirm(client, choose_account(client, account))


def test_the_whole_way_from_the_link_to_the_account(client):
    page = open_link(client)
    assert "551***21" in page.content.decode()
    answer = sign_in_by_browser(client)
    assert answer.status_code == 302
    assert ANA.email in client.get(reverse("account")).content.decode()
    assert GoogleUser.objects.get().owner_phone == PHONE


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(client, settings):
    settings.SESSION_COOKIE_SECURE = True
    cookie = sign_in_by_browser(client).cookies[settings.WEB_SESSION_COOKIE_NAME]
    assert cookie["httponly"]
    assert cookie["secure"]
    assert cookie["samesite"] == "Lax"
    assert not GoogleSession.objects.filter(pk=cookie.value).exists()


def test_report_14_previews_and_scanners_use_nothing_up(client):
    hint = make_hint(at=timezone.now())
    for method in (client.head, client.get, client.get):
        assert method(reverse("login"), hint, HTTP_USER_AGENT="WhatsApp/2.24").status_code == 200
    assert not LinkUse.objects.exists()
    assert sign_in_by_browser(client, hint=hint).status_code == 302


def test_the_way_back_from_google_uses_nothing_up(client):
    open_link(client)
    choose_account(client, ANA)
    assert client.get(reverse("login-confirm")).status_code == 200
    assert not LinkUse.objects.exists()


def test_a_used_link_is_refused_to_another_account(client):
    hint = make_hint(at=timezone.now())
    sign_in_by_browser(client, ANA, hint=hint)
    other = Client()
    open_link(other, hint=hint)
    page = choose_account(other, RUI)
    assert page.status_code == 409
    assert GoogleUser.objects.get(owner_phone=PHONE).google_sub == ANA.sub


def test_i4_the_page_names_both_before_a_take_over_and_the_loser_is_told(client):
    sign_in_by_browser(client, ANA)
    other = Client()
    open_link(other, hint=make_hint(at=timezone.now() - timedelta(seconds=3)))
    page = choose_account(other, RUI)
    assert "a***@example.com" in page.content.decode()
    press_confirm(other, page)
    assert "took over" in client.get(reverse("login")).content.decode()
    assert AccountNotice.objects.get().google_sub == ANA.sub


def test_a_second_link_opened_meanwhile_is_shown_before_it_is_used(client):
    open_link(client)
    page = choose_account(client, ANA)
    open_link(client, OTHER_PHONE)
    answer = press_confirm(client, page)
    assert answer.url == reverse("login-confirm")
    assert not LinkUse.objects.exists()


def test_a_form_from_another_site_is_refused(client):
    strict = Client(enforce_csrf_checks=True)
    assert strict.post(reverse(FINISH)).status_code == 403
    assert strict.post(reverse("logout")).status_code == 403


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://evil.example"},
        {"aud": "another-client"},
        {"exp": 1},
        {"nonce": "another"},
        {"email_verified": False},
        {"sub": "not a subject!"},
    ],
)
def test_a_bad_id_token_is_refused(client, provider, claims):
    provider.claim_overrides = claims
    open_link(client)
    assert choose_account(client, ANA).status_code == 403


def test_an_answer_from_google_that_this_browser_did_not_ask_for_is_refused(client):
    open_link(client)
    answer = client.get(reverse("login-callback"), {"code": "x", "state": "y"})
    assert answer.status_code == 403


def test_a_new_signing_key_is_fetched_when_it_appears(client, provider):
    open_link(client)
    choose_account(client, ANA)
    provider.replace_key()
    assert choose_account(client, ANA).status_code == 200


def test_a_provider_that_is_down_is_said_so(client, settings):
    settings.GOOGLE_ISSUER = "http://127.0.0.1:9"
    open_link(client)
    assert client.get(reverse("login-google")).status_code == 503


def test_without_a_client_the_page_says_so(client, settings):
    settings.GOOGLE_CLIENT_ID = ""
    assert "not set up" in open_link(client).content.decode()


@pytest.mark.parametrize("hint", [{"wa": PHONE}, {"wa": "5", "wa_ts": "1", "wa_sig": "x"}])
def test_a_bad_link_is_explained(client, hint):
    page = client.get(reverse("login"), hint)
    assert page.status_code == 403
    assert "not valid" in page.content.decode()


def test_pages_are_never_stored(client):
    assert "no-store" in open_link(client)["Cache-Control"]


def test_every_page_leads_to_sign_in_or_to_the_account(client):
    assert reverse("login") in client.get(reverse("login")).content.decode()
    sign_in_by_browser(client)
    assert reverse("account") in client.get(reverse("login")).content.decode()


def test_i8_a_database_blip_is_a_page_and_no_sign_out(client):
    sign_in_by_browser(client)

    def fail_on_bans(execute, sql, params, many, context):
        if "sticker_web_admin_ban" in sql:
            raise OperationalError("server has gone away")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(fail_on_bans):
        assert client.get(reverse("account")).status_code == 503
    assert client.get(reverse("account")).status_code == 200


def test_a_visitor_without_a_cookie_costs_no_query(rf, django_assert_num_queries):
    request = rf.get("/")
    with django_assert_num_queries(0):
        render_to_string("whatsapp_auth/nav.html", request=request)


def test_nothing_of_the_account_is_shown_without_a_session(client):
    assert client.get(reverse("account")).url == reverse("login")


def test_one_ends_ones_own_sessions_and_no_others(client):
    sign_in_by_browser(client)
    mine = sessions.open_session(GoogleUser.objects.get(), now=timezone.now()).session
    others = make_session(RUI, OTHER_PHONE, now=timezone.now()).session
    for session, status in ((mine, 302), (others, 404)):
        ref = session.session_token[:12]
        answer = client.post(reverse("account-end-session", kwargs={"ref": ref}))
        assert answer.status_code == status
    others.refresh_from_db()
    assert others.revoked_at is None


def test_signing_out_ends_the_session(client):
    sign_in_by_browser(client)
    client.post(reverse("logout"))
    assert not sessions.living_sessions(now=timezone.now()).exists()
    assert client.cookies[django_settings.WEB_SESSION_COOKIE_NAME].value == ""


def test_one_downloads_and_deletes_ones_own_data(client):
    sign_in_by_browser(client)
    data = client.post(reverse("account-export")).json()
    assert data["accounts"][0]["email"] == ANA.email
    client.post(reverse("account-erase"), {"last_digits": "0000"})
    assert GoogleUser.objects.exists()
    client.post(reverse("account-erase"), {"last_digits": PHONE[-4:]})
    assert not GoogleUser.objects.exists()


def test_provider_accounts_are_those_of_the_factories():
    assert {account.sub for account in PROVIDER_ACCOUNTS} == {ANA.sub, RUI.sub}


def test_a_revoked_link_is_explained(client):
    hint = make_hint(at=timezone.now() - timedelta(seconds=5))
    open_link(client, hint=hint)
    links.revoke_links(PHONE, actor="ana", now=timezone.now())
    assert "withdrawn" in choose_account(client, ANA).content.decode()
