"""Routes of this app below `/api/v1/`."""

from django.urls import re_path
from rest_framework.routers import SimpleRouter

from apps.stickers.api.discovery import DiscoveryViewSet
from apps.stickers.api.engagement import EngagementViewSet
from apps.stickers.api.moderation import DecisionView, ModerationQueueView
from apps.stickers.api.views import PackViewSet

router = SimpleRouter(trailing_slash=False)
# Before the packs themselves: `packs/stats` is no pack's key.
router.register("packs", DiscoveryViewSet, basename="pack-discovery")
router.register("packs", EngagementViewSet, basename="pack-engagement")
router.register("packs", PackViewSet, basename="pack")
urlpatterns = [
    re_path(r"^moderation/packs$", ModerationQueueView.as_view(), name="moderation-queue"),
    re_path(
        r"^packs/(?P<pack_key>[a-z0-9-]+)/moderation$",
        DecisionView.as_view(),
        name="pack-moderation",
    ),
    *router.urls,
]
