"""Addresses of delivery outside `/api/v1/`: those that apps of the original know."""

from django.urls import path

from apps.delivery.api import manifest_views
from apps.delivery.app_manifest_schema import SCHEMA_PATH

urlpatterns = [
    path(SCHEMA_PATH, manifest_views.manifest_schema, name="app-manifest-schema"),
    path(
        "api/core/usage-metrics",
        manifest_views.UsageMetricsView.as_view(),
        name="core-usage-metrics",
    ),
    path(
        "api/core/usage-metrics/<slug:code>",
        manifest_views.AppUsageMetricsView.as_view(),
        name="core-usage-metrics-of",
    ),
]
