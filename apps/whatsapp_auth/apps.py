"""Registration of the app with Django."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class WhatsappAuthConfig(AppConfig):
    """WhatsApp identity, sign-in and who may do what."""

    name = "apps.whatsapp_auth"
    verbose_name = _("WhatsApp identity")

    def ready(self) -> None:
        """Register checks, and keep the roles in step with the permissions that migrations make."""
        from apps.whatsapp_auth import checks  # noqa: F401, PLC0415 (registers when imported)

        post_migrate.connect(_sync_roles, dispatch_uid="whatsapp_auth.sync_roles")


def _sync_roles(sender: AppConfig, **kwargs: Any) -> None:
    from apps.whatsapp_auth.services import roles  # noqa: PLC0415 (models load first)

    if sender.label in roles.OUR_APPS:
        roles.sync_roles()
