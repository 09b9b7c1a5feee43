"""Pages of the catalogue and the images in it."""

from django.urls import path, re_path

from apps.stickers import catalogue_views, moderation_views, own_views, views

urlpatterns = [
    path("", catalogue_views.catalogue, name="home"),
    path("packs/<slug:pack_key>", catalogue_views.pack, name="pack"),
    path("packs/<slug:pack_key>/opinion", catalogue_views.opinion, name="pack-opinion"),
    path("packs/<slug:pack_key>/report", catalogue_views.report, name="pack-report"),
    path("packs/<slug:pack_key>/download", catalogue_views.download, name="pack-download"),
    path("moderation", moderation_views.queue, name="moderation"),
    path("moderation/<slug:pack_key>", moderation_views.decide, name="moderation-decide"),
    path("my/packs", own_views.my_packs, name="my-packs"),
    path("my/packs/<slug:pack_key>", own_views.my_pack, name="my-pack"),
    re_path(r"^stickers/assets/(?P<sha256>[0-9a-f]{64})\.webp$", views.asset, name="sticker-asset"),
]
