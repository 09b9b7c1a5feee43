"""All addresses: admin, API, pages, health and metrics."""

from django.contrib import admin
from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView
from drf_spectacular.views import SpectacularSwaggerSplitView as ApiDocsView

from apps.common import health, metrics

APPS_WITH_API = ("flags", "outbox", "whatsapp_auth", "stickers", "delivery")
PAGES = ("whatsapp_auth", "delivery", "stickers")

# Here and not at every start: workers have no pages, and forty admin modules take memory.
admin.autodiscover()

urlpatterns = [
    path("admin/", admin.site.urls),
    path("i18n/", include("django.conf.urls.i18n")),
    path("health/live", health.live, name="health-live"),
    path("health/ready", health.ready, name="health-ready"),
    path("metrics", metrics.MetricsView.as_view(), name="metrics"),
    path("api/v1/schema", SpectacularAPIView.as_view(), name="api-schema"),
    path("api/v1/docs", ApiDocsView.as_view(url_name="api-schema"), name="api-docs"),
    path("ofrep/v1/", include("apps.flags.api.ofrep_urls")),
    *(path("api/v1/", include(f"apps.{app}.api.urls")) for app in APPS_WITH_API),
    *(path("", include(f"apps.{app}.urls")) for app in PAGES),
]
