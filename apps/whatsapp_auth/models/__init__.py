"""All tables of WhatsApp identity and of access."""

from apps.whatsapp_auth.models.mirrored import (
    Ban,
    GoogleSession,
    GoogleUser,
    LidMapping,
    Moderator,
)
from apps.whatsapp_auth.models.tokens import ApiToken

__all__ = ["ApiToken", "Ban", "GoogleSession", "GoogleUser", "LidMapping", "Moderator"]
