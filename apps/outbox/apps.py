"""Registration of the app with Django."""

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules
from django.utils.translation import gettext_lazy as _


class OutboxConfig(AppConfig):
    """The transactional outbox."""

    name = "apps.outbox"
    verbose_name = _("Outbox")

    def ready(self) -> None:
        """Find the handlers of all apps, and report health and figures."""
        from apps.common import health, metrics  # noqa: PLC0415 (models load first)
        from apps.flags.signals import flag_changed  # noqa: PLC0415
        from apps.outbox import metrics as outbox_metrics  # noqa: PLC0415
        from apps.outbox import readiness, receivers  # noqa: PLC0415

        autodiscover_modules("event_types", "handlers")
        flag_changed.connect(receivers.publish_flag_change, dispatch_uid="outbox.flag_changed")
        health.register("outbox", readiness.check_oldest_due)
        health.register("broker", readiness.check_broker)
        metrics.register("outbox", outbox_metrics.collect)
