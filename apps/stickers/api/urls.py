"""Routes of this app below `/api/v1/`."""

from django.urls import path, re_path
from rest_framework.routers import SimpleRouter

from apps.stickers.api.uploads import OwnPacksViewSet, PublishingViewSet, UploadViewSet
from apps.stickers.api.views import PackViewSet

router = SimpleRouter(trailing_slash=False)
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
    *router.urls,
]
