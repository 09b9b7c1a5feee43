from apps.whatsapp_auth.checks import (
    check_base_url,
    check_link_secret,
    check_login_path,
    check_provider,
)


def ids(messages):
    return [message.id for message in messages]


def test_links_must_be_signed_in_production(settings):
    settings.WHATSAPP_LOGIN_LINK_SECRET = ""
    assert ids(check_link_secret(None)) == ["whatsapp_auth.E001"]


def test_a_short_secret_is_an_error(settings):
    settings.WHATSAPP_LOGIN_LINK_SECRET = "secret"
    assert ids(check_link_secret(None)) == ["whatsapp_auth.E002"]


def test_links_must_lead_somewhere(settings):
    settings.SITE_ORIGIN = settings.WHATSAPP_LOGIN_BASE_URL = "mailto:x"
    assert ids(check_base_url(None)) == ["whatsapp_auth.E003"]


def test_the_login_page_needs_a_plain_path(settings):
    settings.WHATSAPP_LOGIN_PATH = "/login?x=1"
    assert ids(check_login_path(None)) == ["whatsapp_auth.E005"]
    settings.WHATSAPP_LOGIN_PATH = "entrar"
    assert ids(check_login_path(None)) == []


def test_the_issuer_must_be_reached_over_tls(settings):
    settings.GOOGLE_CLIENT_ID = "client"
    settings.GOOGLE_ISSUER = "http://127.0.0.1:8765"
    assert ids(check_provider(None)) == ["whatsapp_auth.E004"]


def test_a_complete_configuration_is_fine(settings):
    settings.GOOGLE_CLIENT_ID = "client"
    settings.GOOGLE_ISSUER = "https://accounts.google.com"
    assert not [*check_link_secret(None), *check_base_url(None), *check_provider(None)]
