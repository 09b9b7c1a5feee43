"""Packs and stickers as the API takes and gives them."""

from datetime import datetime
from typing import Any

from django.urls import reverse
from rest_framework import serializers

from apps.stickers import catalogue, marketplace, queries
from apps.stickers.catalogue import ShownScores
from apps.stickers.choices import DECISIONS, ReportReason, Visibility
from apps.stickers.models import (
    ModerationDecision,
    PackEngagement,
    PackReport,
    StickerAsset,
    StickerPack,
    StickerPackItem,
)


def asset_address(asset: StickerAsset | None) -> str | None:
    """Where browsers load a sticker's image; the address names its content."""
    return reverse("sticker-asset", args=[asset.sha256]) if asset else None


_TIME = serializers.DateTimeField()


def _shown_time(moment: datetime | None) -> str | None:
    """As DRF writes times; adopted rows may lack them."""
    return _TIME.to_representation(moment) if moment else None


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

    def to_representation(self, instance: StickerPack) -> dict[str, Any]:
        """The fields of `Meta` at once: DRF's way, one by one, takes longer than the queries."""
        return {
            "id": instance.pk,
            "pack_key": instance.pack_key,
            "name": instance.name,
            "publisher": instance.publisher,
            "description": instance.shown_description,
            "visibility": instance.visibility,
            "status": instance.status,
            "version": instance.version,
            "sticker_count": self.get_sticker_count(instance),
            "cover_url": self.get_cover_url(instance),
            "web_url": self.get_web_url(instance),
            "tags": self.get_tags(instance),
            "manual_tags": instance.manual_tags,
            "signals": self.get_signals(instance),
            "engagement": self.get_engagement(instance),
            "created_at": _shown_time(instance.created_at),
            "updated_at": _shown_time(instance.updated_at),
        }

    def get_cover_url(self, pack: StickerPack) -> str | None:
        """Where its first picture is."""
        return asset_address(pack.cover_sticker)

    def get_web_url(self, pack: StickerPack) -> str:
        """Its page."""
        return reverse("pack", args=[pack.pack_key])

    def get_sticker_count(self, pack: StickerPack) -> int:
        """How many stickers it holds, as last counted."""
        shown = self._shown(pack)
        return shown.sticker_count if shown else pack.items.count()

    def get_tags(self, pack: StickerPack) -> list[str]:
        """What it shows, strongest first."""
        shown = self._shown(pack)
        return list(shown.tags) if shown else []

    def get_signals(self, pack: StickerPack) -> dict[str, Any] | None:
        """Its scores, of when they are and whence; None until the first time."""
        shown = self._shown(pack)
        if shown is None:
            return None
        return {
            **shown.signals,
            "refreshed_at": shown.refreshed_at.isoformat(),
            "source": "live" if shown.is_live else "snapshot",
        }

    def get_engagement(self, pack: StickerPack) -> dict[str, int]:
        """Opens, likes and dislikes."""
        return counters_of(getattr(pack, "engagement", None))

    def _shown(self, pack: StickerPack) -> ShownScores | None:
        """The scores that the view chose; without a choice those of the snapshot."""
        chosen: ShownScores | None = self.context.get("scores", {}).get(pack.pk)
        if chosen is None and hasattr(pack, "snapshot"):
            return catalogue.of_snapshot(pack.snapshot)
        return chosen


def counters_of(found: PackEngagement | None) -> dict[str, int]:
    """The counters of a pack and their balance; zeros where nobody came."""
    names = ("open_count", "like_count", "dislike_count")
    counters = {name: int(getattr(found, name)) if found else 0 for name in names}
    return counters | {"score": counters["like_count"] - counters["dislike_count"]}


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

    def to_representation(self, instance: StickerPack) -> dict[str, Any]:
        """A pack and its stickers."""
        return super().to_representation(instance) | {"stickers": self.get_stickers(instance)}

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


def checked(kind: type[serializers.Serializer[Any]], data: Any) -> dict[str, Any]:
    """What was asked for, checked against a serializer. Raises ValidationError."""
    wish = kind(data=data)
    wish.is_valid(raise_exception=True)
    asked: dict[str, Any] = wish.validated_data
    return asked


class VisibilityQuerySerializer(serializers.Serializer[Any]):
    """Which packs are meant."""

    visibility = serializers.ChoiceField(["public", "unlisted", "all"], default="public")


class CatalogueQuerySerializer(VisibilityQuerySerializer):
    """How the catalogue is asked for."""

    sort = serializers.ChoiceField(list(catalogue.SORTS), default="popular")
    q = serializers.CharField(max_length=120, required=False, allow_blank=True, default="")
    categories = serializers.CharField(
        max_length=900,
        required=False,
        allow_blank=True,
        default="",
        help_text="Tags, separated by commas; packs with any of them.",
    )
    publisher = serializers.CharField(max_length=120, required=False, allow_blank=True, default="")
    include_sensitive = serializers.BooleanField(default=True)
    limit = serializers.IntegerField(min_value=1, max_value=catalogue.MAX_PAGE, default=24)
    cursor = serializers.CharField(max_length=400, required=False)

    def validate_categories(self, value: str) -> tuple[str, ...]:
        """At most twenty tags."""
        tags = tuple(dict.fromkeys(tag.strip().lower() for tag in value.split(",") if tag.strip()))
        if len(tags) > catalogue.MAX_CATEGORIES:
            raise serializers.ValidationError(
                f"At most {catalogue.MAX_CATEGORIES} categories are allowed."
            )
        return tags

    def to_wish(self) -> catalogue.Wish:
        """The list that was asked for."""
        asked = dict(self.validated_data)
        return catalogue.Wish(search=asked.pop("q").strip(), **asked)


class IntentsQuerySerializer(VisibilityQuerySerializer):
    """How large the collections may be."""

    limit = serializers.IntegerField(
        min_value=marketplace.MIN_LIMIT, max_value=marketplace.MAX_LIMIT, default=18
    )


class RecommendationsQuerySerializer(serializers.Serializer[Any]):
    """How many packs are wanted."""

    limit = serializers.IntegerField(
        min_value=marketplace.MIN_LIMIT, max_value=marketplace.MAX_LIMIT, default=18
    )


class CreatorsQuerySerializer(VisibilityQuerySerializer):
    """How many creators are wanted."""

    limit = serializers.IntegerField(
        min_value=marketplace.MIN_CREATORS, max_value=marketplace.MAX_CREATORS, default=50
    )


class InteractionSerializer(serializers.Serializer[Any]):
    """What came of an open, a like or a dislike."""

    pack_key = serializers.CharField()
    interaction = serializers.CharField()
    counted = serializers.BooleanField()
    opinion = serializers.CharField(help_text="like, dislike or nothing")
    engagement = serializers.DictField(child=serializers.IntegerField())


class NewReportSerializer(serializers.Serializer[Any]):
    """A complaint about a pack."""

    reason = serializers.ChoiceField(ReportReason.choices)
    text = serializers.CharField(max_length=500, required=False, allow_blank=True, default="")


class ReportSerializer(serializers.ModelSerializer[PackReport]):
    """A complaint as its author sees it."""

    class Meta:
        model = PackReport
        fields = ["id", "reason", "text", "outcome", "created_at"]


class ReportedPackSerializer(serializers.Serializer[Any]):
    """A pack that waits for a decision, and why."""

    pack = PackSerializer()
    report_count = serializers.IntegerField()
    since = serializers.DateTimeField()
    reasons = serializers.SerializerMethodField()
    texts = serializers.ListField(child=serializers.CharField())

    def get_reasons(self, row: Any) -> dict[str, int]:
        """How often each reason was given."""
        return dict(row.reasons)


class NewDecisionSerializer(serializers.Serializer[Any]):
    """What is to be done with a pack, and why."""

    outcome = serializers.ChoiceField(DECISIONS)
    reason = serializers.CharField(max_length=255)


class DecisionSerializer(serializers.ModelSerializer[ModerationDecision]):
    """A decision."""

    pack_key = serializers.CharField(source="pack.pack_key")

    class Meta:
        model = ModerationDecision
        fields = ["pack_key", "outcome", "reason", "report_count", "decided_at"]
