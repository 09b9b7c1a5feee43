"""All tables of WhatsApp identity and of access."""

from apps.whatsapp_auth.models.logins import (
    AccountNotice,
    LidHistory,
    LinkUse,
    LoginEvent,
    PhoneGuard,
)
from apps.whatsapp_auth.models.mirrored import (
    Ban,
    GoogleSession,
    GoogleUser,
    LidMapping,
    Moderator,
)
from apps.whatsapp_auth.models.tokens import ApiToken

__all__ = [
    "AccountNotice",
    "ApiToken",
    "Ban",
    "GoogleSession",
    "GoogleUser",
    "LidHistory",
    "LidMapping",
    "LinkUse",
    "LoginEvent",
    "Moderator",
    "PhoneGuard",
]
