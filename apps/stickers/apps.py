"""Registration of the app with Django."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class StickersConfig(AppConfig):
    """Stickers."""

    name = "apps.stickers"
    verbose_name = _("Stickers")

    def ready(self) -> None:
        """Register checks, and take part when people ask for their data."""
        from apps.stickers import checks  # noqa: F401, PLC0415 (registers when imported)
        from apps.stickers.services import ownership  # noqa: PLC0415 (models load first)
        from apps.whatsapp_auth.services.personal_data import register_section  # noqa: PLC0415

        register_section("packs", export=ownership.export_owned, erase=ownership.release_ownership)
