"""Routes of this app below `/api/v1/`."""

from django.urls import path, re_path
from rest_framework.routers import SimpleRouter

from apps.stickers.api.discovery import DiscoveryViewSet
from apps.stickers.api.engagement import EngagementViewSet
from apps.stickers.api.moderation import DecisionView, ModerationQueueView
from apps.stickers.api.uploads import OwnPacksViewSet, PublishingViewSet, UploadViewSet
from apps.stickers.api.views import PackViewSet

router = SimpleRouter(trailing_slash=False)
# Before the packs themselves: `packs/stats` is no pack's key.
router.register("packs", DiscoveryViewSet, basename="pack-discovery")
router.register("packs", EngagementViewSet, basename="pack-engagement")
router.register("packs", PackViewSet, basename="pack")
urlpatterns = [
    path(
        "packs/<slug:pack_key>/uploads",
        UploadViewSet.as_view({"get": "list", "post": "create"}),
        name="pack-uploads",
    ),
    re_path(
        r"^packs/(?P<pack_key>[a-z0-9-]+)/uploads/(?P<upload_id>[A-Za-z0-9._:-]{1,120})$",
        UploadViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
        name="pack-upload",
    ),
    path(
        "packs/<slug:pack_key>/publish-state",
        PublishingViewSet.as_view({"get": "state"}),
        name="pack-publish-state",
    ),
    path(
        "packs/<slug:pack_key>/finalize",
        PublishingViewSet.as_view({"post": "finalize"}),
        name="pack-finalize",
    ),
    path(
        "packs/<slug:pack_key>/clone",
        PublishingViewSet.as_view({"post": "clone"}),
        name="pack-clone",
    ),
    path("own-packs", OwnPacksViewSet.as_view({"get": "list"}), name="own-packs"),
    path(
        "collected-stickers",
        OwnPacksViewSet.as_view({"post": "collect"}),
        name="collected-stickers",
    ),
    re_path(r"^moderation/packs$", ModerationQueueView.as_view(), name="moderation-queue"),
    re_path(
        r"^packs/(?P<pack_key>[a-z0-9-]+)/moderation$",
        DecisionView.as_view(),
        name="pack-moderation",
    ),
    *router.urls,
]
