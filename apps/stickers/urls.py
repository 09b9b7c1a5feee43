"""Pages of the catalogue and the images in it."""

from django.urls import path, re_path

from apps.stickers import asset_views, catalogue_views, moderation_views, own_views

urlpatterns = [
    path("", catalogue_views.catalogue, name="home"),
    path("packs/<slug:pack_key>", catalogue_views.pack, name="pack"),
    path("packs/<slug:pack_key>/opinion", catalogue_views.opinion, name="pack-opinion"),
    path("packs/<slug:pack_key>/report", catalogue_views.report, name="pack-report"),
    path("packs/<slug:pack_key>/download", catalogue_views.download, name="pack-download"),
    path("moderation", moderation_views.queue, name="moderation"),
    path("moderation/<slug:pack_key>", moderation_views.decide, name="moderation-decide"),
    path(
        "packs/<slug:pack_key>/stickers/<str:sticker_id>.webp",
        asset_views.sticker_file,
        name="sticker-file",
    ),
    path("my/packs", own_views.my_packs, name="my-packs"),
    path("my/packs/<slug:pack_key>", own_views.my_pack, name="my-pack"),
    path("my/packs/<slug:pack_key>/publish", own_views.publish_pack, name="my-pack-publish"),
    path("my/packs/<slug:pack_key>/edit", own_views.edit_pack, name="my-pack-edit"),
    path("my/packs/<slug:pack_key>/change", own_views.change_pack, name="my-pack-change"),
    path(
        "my/packs/<slug:pack_key>/stickers/<str:sticker_id>",
        own_views.change_sticker,
        name="my-sticker",
    ),
    re_path(
        r"^my/packs/(?P<pack_key>[-a-z0-9]+)/uploads/(?P<upload_id>[A-Za-z0-9._:-]{1,120})/discard$",
        own_views.discard_upload,
        name="my-upload-discard",
    ),
    re_path(
        r"^stickers/assets/(?P<sha256>[0-9a-f]{64})\.webp$",
        asset_views.asset,
        name="sticker-asset",
    ),
]
