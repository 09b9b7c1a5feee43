"""Registration of the app with Django."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class FlagsConfig(AppConfig):
    """Flags."""

    name = "apps.flags"
    verbose_name = _("Flags")
