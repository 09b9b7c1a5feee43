"""Routes of this app below `/api/v1/`."""

from django.urls import URLPattern, URLResolver, path
from rest_framework.routers import SimpleRouter

from apps.delivery.api import (
    manifest_views,
    process_jobs,
    rollout_views,
    shared_files,
    usage_views,
    views,
)

router = SimpleRouter()
router.register("delivery/plans", views.PlanViewSet, basename="delivery-plan")
router.register("delivery/apps", views.AppViewSet, basename="delivery-app")
router.register("delivery/environments", views.EnvironmentViewSet, basename="delivery-environment")
router.register("delivery/domains", views.CustomDomainViewSet, basename="delivery-domain")
router.register("delivery/releases", rollout_views.ReleaseViewSet, basename="delivery-release")
router.register(
    "delivery/deployment-plans",
    rollout_views.DeploymentPlanViewSet,
    basename="delivery-deployment-plan",
)
router.register(
    "delivery/deployments", rollout_views.DeploymentViewSet, basename="delivery-deployment"
)
router.register("delivery/fleet", rollout_views.FleetViewSet, basename="delivery-fleet")
router.register(
    "delivery/plan-limits", usage_views.PlanLimitViewSet, basename="delivery-plan-limit"
)

router.register(
    "delivery/process-jobs", process_jobs.ProcessJobViewSet, basename="delivery-process-job"
)
router.register(
    "delivery/process-workers",
    process_jobs.ProcessWorkerViewSet,
    basename="delivery-process-worker",
)
router.register(
    "delivery/process-runners",
    process_jobs.RemoteRunnerViewSet,
    basename="delivery-process-runner",
)
router.register("files", shared_files.SharedFileViewSet, basename="shared-file")

# Without a closing slash, as apps and the client call them.
usage_urlpatterns = [
    path(
        "usage/events",
        usage_views.UsageEventViewSet.as_view({"get": "list", "post": "create"}),
        name="usage-events",
    ),
    path(
        "usage/totals", usage_views.UsageTotalViewSet.as_view({"get": "list"}), name="usage-totals"
    ),
    path(
        "usage/alerts", usage_views.LimitAlertViewSet.as_view({"get": "list"}), name="usage-alerts"
    ),
    path("usage/check", usage_views.UsageCheckView.as_view(), name="usage-check"),
    path("usage/invoice", usage_views.InvoiceView.as_view(), name="usage-invoice"),
    path("usage/reservations", usage_views.ReservationView.as_view(), name="usage-reservations"),
    path(
        "usage/reservations/commit",
        usage_views.ReservationCommitView.as_view(),
        name="usage-reservation-commit",
    ),
    path(
        "usage/reservations/release",
        usage_views.ReservationReleaseView.as_view(),
        name="usage-reservation-release",
    ),
]

urlpatterns: list[URLPattern | URLResolver] = [
    *router.urls,
    *usage_urlpatterns,
    path(
        "files/<str:pk>/content/",
        shared_files.SharedFileContentView.as_view(),
        name="shared-file-content",
    ),
    path(
        "delivery/manifest-check/",
        manifest_views.ManifestCheckView.as_view(),
        name="delivery-manifest-check",
    ),
    path(
        "delivery/apps/<slug:code>/manifest/",
        manifest_views.AppManifestView.as_view(),
        name="delivery-app-manifest",
    ),
    path("delivery/members/", rollout_views.MemberView.as_view(), name="delivery-members"),
    path("delivery/cluster/", rollout_views.ClusterView.as_view(), name="delivery-cluster"),
]
