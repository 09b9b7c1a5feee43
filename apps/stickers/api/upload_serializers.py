"""Uploads, copies and collected stickers as the API takes and gives them."""

from typing import Any

from rest_framework import serializers

from apps.stickers.api.serializers import asset_address
from apps.stickers.choices import PackStatus, UploadStatus
from apps.stickers.services.publishing import Hindrance


class AnnouncementSerializer(serializers.Serializer[Any]):
    """What is said of a file before it is sent."""

    sha256 = serializers.CharField(max_length=64)
    size_bytes = serializers.IntegerField()
    upload_id = serializers.CharField(max_length=120, required=False)
    mimetype = serializers.CharField(max_length=64, required=False, allow_blank=True)
    emojis = serializers.ListField(
        child=serializers.CharField(max_length=64), required=False, max_length=8
    )
    accessibility_label = serializers.CharField(
        source="label", max_length=1000, required=False, allow_blank=True
    )
    becomes_cover = serializers.BooleanField(required=False)


class UploadSerializer(serializers.Serializer[Any]):
    """An upload and how far it is."""

    upload_id = serializers.CharField()
    sha256 = serializers.CharField(source="sticker_hash")
    status = serializers.ChoiceField(UploadStatus.choices, source="upload_status")
    size_bytes = serializers.SerializerMethodField()
    received_bytes = serializers.SerializerMethodField()
    sticker_id = serializers.CharField(allow_null=True)
    sticker_url = serializers.SerializerMethodField()
    error_code = serializers.CharField(allow_null=True)
    error_message = serializers.CharField(allow_null=True)
    attempt_count = serializers.IntegerField()

    def get_size_bytes(self, upload: Any) -> int | None:
        """The announced size; None for uploads of the original."""
        return upload.source.size_bytes if hasattr(upload, "source") else None

    def get_sticker_url(self, upload: Any) -> str | None:
        """Where the finished picture is."""
        return asset_address(upload.sticker)

    def get_received_bytes(self, upload: Any) -> int | None:
        """How much is here; all of it once a worker is done."""
        if upload.upload_status == UploadStatus.DONE:
            return self.get_size_bytes(upload)
        received: dict[str, int] = self.context["received_bytes"]
        return received.get(upload.pk, 0)


class PublishStateSerializer(serializers.Serializer[Any]):
    """Where a pack stands on its way to being published."""

    status = serializers.ChoiceField(PackStatus.choices)
    sticker_count = serializers.IntegerField()
    uploads = serializers.DictField(child=serializers.IntegerField())
    hindrance = serializers.ChoiceField([item.value for item in Hindrance], allow_null=True)


class CloneSerializer(serializers.Serializer[Any]):
    """A wish for a copy; without a name it has that of its source."""

    name = serializers.CharField(max_length=200, required=False)


class OwnPacksQuerySerializer(serializers.Serializer[Any]):
    """Whose packs, and what was written to name one; people signed in ask for their own."""

    owner_jid = serializers.CharField(max_length=255, required=False)
    text = serializers.CharField(max_length=200, required=False)


class CollectedSerializer(serializers.Serializer[Any]):
    """A sticker that an author sent to the bot."""

    owner_jid = serializers.CharField(max_length=255, required=False)
    publisher = serializers.CharField(max_length=120)
    file = serializers.FileField(max_length=255)
