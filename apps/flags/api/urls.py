"""Routes of this app below `/api/v1/`."""

from rest_framework.routers import SimpleRouter

from apps.flags.api.views import FlagViewSet

router = SimpleRouter(trailing_slash=False)
router.register("flags", FlagViewSet, basename="flag")
urlpatterns = router.urls
