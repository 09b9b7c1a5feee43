"""Routes of this app below `/api/v1/`."""

from django.urls import URLPattern, URLResolver, path
from rest_framework.routers import SimpleRouter

from apps.delivery.api import rollout_views, views

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

urlpatterns: list[URLPattern | URLResolver] = [
    *router.urls,
    path("delivery/members/", rollout_views.MemberView.as_view(), name="delivery-members"),
    path("delivery/cluster/", rollout_views.ClusterView.as_view(), name="delivery-cluster"),
]
