"""Registration of the app with Django."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class DeliveryConfig(AppConfig):
    """Delivery."""

    name = "apps.delivery"
    verbose_name = _("Delivery")
