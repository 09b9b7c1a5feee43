"""Registration of the app with Django."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class CommonConfig(AppConfig):
    """Common."""

    name = "apps.common"
    verbose_name = _("Common")
