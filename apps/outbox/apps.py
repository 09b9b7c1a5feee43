"""Registration of the app with Django."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class OutboxConfig(AppConfig):
    """Outbox."""

    name = "apps.outbox"
    verbose_name = _("Outbox")
