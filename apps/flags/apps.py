"""Registration of the app with Django."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class FlagsConfig(AppConfig):
    """Feature flags."""

    name = "apps.flags"
    verbose_name = _("Flags")

    def ready(self) -> None:
        """Register the system checks."""
        from apps.flags import checks  # noqa: F401, PLC0415 (models load first)
