"""Routes of this app below `/api/v1/`."""

from django.urls import URLPattern, URLResolver
from rest_framework.routers import SimpleRouter

from apps.delivery.api import views

router = SimpleRouter()
router.register("delivery/plans", views.PlanViewSet, basename="delivery-plan")
router.register("delivery/apps", views.AppViewSet, basename="delivery-app")
router.register("delivery/environments", views.EnvironmentViewSet, basename="delivery-environment")
router.register("delivery/domains", views.CustomDomainViewSet, basename="delivery-domain")

urlpatterns: list[URLPattern | URLResolver] = [*router.urls]
