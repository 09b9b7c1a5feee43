"""What must be set before people may sign in."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Tags, register

from apps.whatsapp_auth.site_urls import origin_of

MIN_SECRET_LENGTH = 16


@register(Tags.security, deploy=True)
def check_link_secret(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Links are always signed; a derived key is for development only."""
    secret = settings.WHATSAPP_LOGIN_LINK_SECRET
    if not secret:
        hint = "Set WHATSAPP_LOGIN_LINK_SECRET; see docs/login.md."
        return [checks.Error("Login links cannot be signed.", hint=hint, id="whatsapp_auth.E001")]
    if len(secret) < MIN_SECRET_LENGTH:
        hint = f"Use at least {MIN_SECRET_LENGTH} random characters."
        return [checks.Error("The link secret is short.", hint=hint, id="whatsapp_auth.E002")]
    return []


@register(Tags.urls)
def check_base_url(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Without a usable base no link can be built: there is no stranger's site to fall back to."""
    if origin_of(settings.WHATSAPP_LOGIN_BASE_URL) or origin_of(settings.SITE_ORIGIN):
        return []
    hint = "Set WHATSAPP_LOGIN_BASE_URL or SITE_ORIGIN to the address of this site."
    return [checks.Error("Login links lead nowhere.", hint=hint, id="whatsapp_auth.E003")]


@register(Tags.urls)
def check_login_path(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Bots may link to a path with a query or fragment; this site serves a plain one."""
    if not set(settings.WHATSAPP_LOGIN_PATH) & set("?#<>"):
        return []
    hint = "Set WHATSAPP_LOGIN_PATH to a path such as /login/."
    return [checks.Error("The login page has no address.", hint=hint, id="whatsapp_auth.E005")]


@register(Tags.security, deploy=True)
def check_provider(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """An issuer without TLS could be anybody."""
    if not settings.GOOGLE_CLIENT_ID or settings.GOOGLE_ISSUER.startswith("https://"):
        return []
    hint = "Set GOOGLE_ISSUER to an https:// address."
    return [checks.Error("The issuer has no TLS.", hint=hint, id="whatsapp_auth.E004")]
