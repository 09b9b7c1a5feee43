"""Registration of the app with Django."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class StickersConfig(AppConfig):
    """Stickers."""

    name = "apps.stickers"
    verbose_name = _("Stickers")
