"""Packs and stickers as the API takes and gives them."""

from typing import Any

from django.urls import reverse
from rest_framework import serializers

from apps.stickers import queries
from apps.stickers.choices import Visibility
from apps.stickers.models import StickerAsset, StickerPack, StickerPackItem


def asset_address(asset: StickerAsset | None) -> str | None:
    """Where browsers load a sticker's image; the address names its content."""
    return reverse("sticker-asset", args=[asset.sha256]) if asset else None


class PackSerializer(serializers.ModelSerializer[StickerPack]):
    """A pack in lists: what it is called, how it ranks, what visitors did."""

    id = serializers.CharField()
    cover_url = serializers.SerializerMethodField()
    web_url = serializers.SerializerMethodField()
    sticker_count = serializers.SerializerMethodField()
    tags = serializers.SerializerMethodField()
    description = serializers.CharField(source="shown_description")
    manual_tags = serializers.ListField(child=serializers.CharField())
    signals = serializers.SerializerMethodField()
    engagement = serializers.SerializerMethodField()

    class Meta:
        model = StickerPack
        fields = [
            "id",
            "pack_key",
            "name",
            "publisher",
            "description",
            "visibility",
            "status",
            "version",
            "sticker_count",
            "cover_url",
            "web_url",
            "tags",
            "manual_tags",
            "signals",
            "engagement",
            "created_at",
            "updated_at",
        ]

    def get_cover_url(self, pack: StickerPack) -> str | None:
        """Where its first picture is."""
        return asset_address(pack.cover_sticker)

    def get_web_url(self, pack: StickerPack) -> str:
        """Its page."""
        return reverse("pack", args=[pack.pack_key])

    def get_sticker_count(self, pack: StickerPack) -> int:
        """How many stickers it holds, as last counted."""
        return pack.snapshot.sticker_count if hasattr(pack, "snapshot") else pack.items.count()

    def get_tags(self, pack: StickerPack) -> list[str]:
        """What it shows, strongest first."""
        return list(pack.snapshot.tags or []) if hasattr(pack, "snapshot") else []

    def get_signals(self, pack: StickerPack) -> dict[str, Any] | None:
        """Its scores and when they were computed; None until the first time."""
        if not hasattr(pack, "snapshot"):
            return None
        return {
            **(pack.snapshot.scores_json or {}),
            "refreshed_at": pack.snapshot.refreshed_at.isoformat(),
        }

    def get_engagement(self, pack: StickerPack) -> dict[str, int]:
        """Opens, likes and dislikes."""
        found = getattr(pack, "engagement", None)
        names = ("open_count", "like_count", "dislike_count")
        return {name: getattr(found, name) if found else 0 for name in names}


class StickerSerializer(serializers.ModelSerializer[StickerPackItem]):
    """A sticker at its place in a pack."""

    sticker_id = serializers.CharField()
    sha256 = serializers.CharField(source="sticker.sha256")
    url = serializers.SerializerMethodField()
    is_animated = serializers.BooleanField(source="sticker.is_animated")
    category = serializers.SerializerMethodField()

    class Meta:
        model = StickerPackItem
        fields = [
            "sticker_id",
            "position",
            "sha256",
            "url",
            "is_animated",
            "emojis",
            "accessibility_label",
            "category",
        ]

    def get_url(self, item: StickerPackItem) -> str | None:
        """Where its image is."""
        return asset_address(item.sticker)

    def get_category(self, item: StickerPackItem) -> str | None:
        """What it shows; None until it is classified."""
        found = getattr(item.sticker, "classification", None)
        return found.category if found else None


class PackDetailSerializer(PackSerializer):
    """A pack with its stickers."""

    stickers = serializers.SerializerMethodField()

    class Meta(PackSerializer.Meta):
        fields = [*PackSerializer.Meta.fields, "stickers"]

    def get_stickers(self, pack: StickerPack) -> list[dict[str, Any]]:
        """All of them, in order."""
        return list(StickerSerializer(queries.pack_items(pack), many=True).data)


class NewPackSerializer(serializers.Serializer[Any]):
    """A wish for a pack; texts are checked by the service."""

    name = serializers.CharField(max_length=200)
    publisher = serializers.CharField(max_length=200)
    description = serializers.CharField(max_length=2000, required=False, allow_blank=True)
    tags = serializers.ListField(
        child=serializers.CharField(max_length=64), required=False, max_length=8
    )
    visibility = serializers.ChoiceField(Visibility.choices, default=Visibility.PUBLIC)
    owner_jid = serializers.CharField(max_length=255, required=False)


class EditedPackSerializer(serializers.Serializer[Any]):
    """A change of a pack; what is left out stays."""

    name = serializers.CharField(max_length=200, required=False)
    publisher = serializers.CharField(max_length=200, required=False)
    description = serializers.CharField(max_length=2000, required=False, allow_blank=True)
    tags = serializers.ListField(
        child=serializers.CharField(max_length=64), required=False, max_length=8
    )
    visibility = serializers.ChoiceField(Visibility.choices, required=False)


class OrderSerializer(serializers.Serializer[Any]):
    """Stickers in the wanted order."""

    sticker_ids = serializers.ListField(
        child=serializers.CharField(max_length=36), min_length=1, max_length=60
    )


class CoverSerializer(serializers.Serializer[Any]):
    """The sticker that becomes the cover."""

    sticker_id = serializers.CharField(max_length=36)


class NewStickerSerializer(serializers.Serializer[Any]):
    """A file to be put into a pack."""

    file = serializers.FileField(max_length=255)
    emojis = serializers.ListField(
        child=serializers.CharField(max_length=64), required=False, max_length=8
    )
    accessibility_label = serializers.CharField(max_length=1000, required=False, allow_blank=True)
    convert = serializers.BooleanField(default=False)


class CatalogueQuerySerializer(serializers.Serializer[Any]):
    """How the catalogue is asked for."""

    sort = serializers.ChoiceField(list(queries.SORTS), default="popular")
    visibility = serializers.ChoiceField(["public", "unlisted", "all"], default="public")
    q = serializers.CharField(max_length=120, required=False, allow_blank=True, default="")
    limit = serializers.IntegerField(min_value=1, max_value=queries.MAX_PAGE, default=24)
    cursor = serializers.CharField(max_length=400, required=False)
