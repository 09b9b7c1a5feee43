"""The whole way in a real browser: a bot's link, the local provider, the account; with and without
scripts."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import requests
from playwright.sync_api import sync_playwright

from apps.whatsapp_auth.models import GoogleUser, LinkUse
from apps.whatsapp_auth.services.tokens import issue_token
from tests.whatsapp_auth.factories import ANA, PHONE, RUI
from tests.whatsapp_auth.provider import running_provider

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
CHROMIUM = "/usr/bin/chromium"
DEADLINE_MS = 20_000


@pytest.fixture
def site(live_server, settings):
    with running_provider() as provider:
        settings.GOOGLE_ISSUER = provider.issuer
        settings.GOOGLE_CLIENT_ID = provider.client_id
        settings.SITE_ORIGIN = live_server.url
        yield live_server.url


@pytest.fixture
def link(site, owner):
    """A login link as a bot gets it from the API."""
    _token, secret = issue_token("bot", owner=owner, scopes=["whatsapp:write"])
    message = {"key": {"remoteJid": "123456789012345@lid", "remoteJidAlt": f"{PHONE}@c.us"}}
    answer = requests.post(
        f"{site}/api/v1/whatsapp/login-links",
        json={"message": message},
        headers={"Authorization": f"Bearer {secret}"},
        timeout=10,
    )
    return answer.json()["url"]


def in_browser(work, *, scripts):
    """Run a visit in a thread of its own: the browser's loop must not be the database's thread."""

    def visit():
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            page = browser.new_context(java_script_enabled=scripts, locale="en").new_page()
            page.set_default_timeout(DEADLINE_MS)
            try:
                return work(page)
            finally:
                browser.close()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(visit).result()


def come_in(page, link, account):
    page.goto(link)
    page.get_by_role("link", name="Sign in with Google").click()
    page.get_by_role("link", name=account.email).click()


def sign_in(page, link, account):
    come_in(page, link, account)
    assert account.email in page.inner_text("main")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/my/packs")
    assert page.get_by_role("heading", name="My packs").is_visible()
    page.get_by_role("link", name="My account").click()
    page.wait_for_url("**/account/")
    return page.inner_text("main")


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_from_the_bots_link_to_ones_own_packs_and_account(link, scripts):
    assert requests.get(link, timeout=10).ok  # a link preview comes first
    assert not LinkUse.objects.exists()
    text = in_browser(lambda page: sign_in(page, link, ANA), scripts=scripts)
    assert "551***21" in text
    assert GoogleUser.objects.get().google_sub == ANA.sub


def test_the_same_link_is_refused_to_another_account(link):
    in_browser(lambda page: sign_in(page, link, ANA), scripts=True)

    def second(page):
        come_in(page, link, RUI)
        return page.inner_text("main")

    assert "has been used" in in_browser(second, scripts=True)
    assert list(GoogleUser.objects.values_list("google_sub", flat=True)) == [ANA.sub]


def test_no_page_breaks_the_content_policy(link):
    complaints = []

    def visit(page):
        page.on("console", lambda message: complaints.append(message.text))
        return sign_in(page, link, ANA)

    in_browser(visit, scripts=True)
    assert not [text for text in complaints if "Content Security Policy" in text]
