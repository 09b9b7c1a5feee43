"""The operator's pages: people, identities, and who may call or enter."""

from apps.whatsapp_auth.admin.access import ApiTokenAdmin, ModeratorAdmin
from apps.whatsapp_auth.admin.identities import LidHistoryAdmin, LidMappingAdmin, LoginEventAdmin
from apps.whatsapp_auth.admin.people import BanAdmin, GoogleSessionAdmin, GoogleUserAdmin

__all__ = [
    "ApiTokenAdmin",
    "BanAdmin",
    "GoogleSessionAdmin",
    "GoogleUserAdmin",
    "LidHistoryAdmin",
    "LidMappingAdmin",
    "LoginEventAdmin",
    "ModeratorAdmin",
]
