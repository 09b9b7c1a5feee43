"""Registration of the app with Django."""

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules
from django.utils.translation import gettext_lazy as _


class DeliveryConfig(AppConfig):
    """Delivery."""

    name = "apps.delivery"
    verbose_name = _("Delivery")

    def ready(self) -> None:
        """Find the process runners of all apps, and report health and figures."""
        from apps.common import health, metrics  # noqa: PLC0415 (models load first)
        from apps.delivery import process_job_metrics, readiness  # noqa: PLC0415

        autodiscover_modules("process_runners")
        health.register("process_jobs", readiness.check_process_jobs)
        metrics.register("process_jobs", process_job_metrics.collect)
