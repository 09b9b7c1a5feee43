"""Pages of the catalogue and the images in it."""

from django.urls import path, re_path

from apps.stickers import asset_views, own_views, views

urlpatterns = [
    path("", views.catalogue, name="home"),
    path("packs/<slug:pack_key>", views.pack, name="pack"),
    path("my/packs", own_views.my_packs, name="my-packs"),
    path("my/packs/<slug:pack_key>", own_views.my_pack, name="my-pack"),
    re_path(
        r"^stickers/assets/(?P<sha256>[0-9a-f]{64})\.webp$",
        asset_views.asset,
        name="sticker-asset",
    ),
]
