"""Stickers themselves: each image is stored once, however many packs show it."""

from django.db import transaction

from apps.outbox.services import publish
from apps.stickers.images import WEBP_MIMETYPE, StickerImage
from apps.stickers.models import StickerAsset
from apps.stickers.storage import write_asset


@transaction.atomic
def store_asset(image: StickerImage, *, owner_jid: str) -> StickerAsset:
    """The row of an image: the one that is there, or a new one with its file and its event.

    The file is written first: a file without a row is harmless, a row without a file is not.
    """
    place = write_asset(image.sha256, image.data)
    asset, is_new = StickerAsset.objects.get_or_create(
        sha256=image.sha256,
        defaults={
            "owner_jid": owner_jid,
            "mimetype": WEBP_MIMETYPE,
            "is_animated": image.is_animated,
            "width": image.width,
            "height": image.height,
            "size_bytes": image.size_bytes,
            "storage_path": place,
        },
    )
    if is_new:
        _announce(asset)
    return asset


def _announce(asset: StickerAsset) -> None:
    payload = {
        "asset_id": asset.pk,
        "owner_jid": asset.owner_jid,
        "sha256": asset.sha256,
        "mimetype": asset.mimetype,
    }
    publish("STICKER_ASSET_CREATED", "sticker_asset", asset.pk, payload, priority=85)
