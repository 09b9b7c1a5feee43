"""Routes of this app below `/api/v1/`."""

from rest_framework.routers import SimpleRouter

from apps.stickers.api.views import PackViewSet

router = SimpleRouter(trailing_slash=False)
router.register("packs", PackViewSet, basename="pack")
urlpatterns = router.urls
