"""Stickers themselves: each image is stored once, however many packs show it.

Adding and removing take turns on the sticker's row: whoever adds holds it until the pack's item is
committed, and whoever removes looks for items only after it has the row.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, OuterRef

from apps.outbox.services import publish
from apps.stickers import errors
from apps.stickers.choices import ObjectState
from apps.stickers.images import WEBP_MIMETYPE, StickerImage
from apps.stickers.models import StickerAsset, StickerPackItem, StoredObject
from apps.stickers.storage import asset_path, local_file, write_asset

PRUNE_BATCH = 500


@transaction.atomic
def store_asset(image: StickerImage, *, owner_jid: str) -> StickerAsset:
    """The row of an image, locked: the one that is there, or a new one with its event.

    The file is written while the row is held and before it is committed: a file without a row is
    harmless, a row without a file is not. A file that got lost is mended.
    """
    asset, is_new = _locked_row(image, owner_jid)
    if is_new:
        _revive(image.sha256)
        write_asset(image.sha256, image.data)
        _announce(asset)
    elif not _has_file(asset):
        place = write_asset(image.sha256, image.data)
        StickerAsset.objects.filter(pk=asset.pk).update(storage_path=place)
        asset.storage_path = place
    return asset


def purge_deleted_packs(*, now: datetime, limit: int = PRUNE_BATCH) -> int:
    """Let go of the stickers of packs that were deleted long ago; tells how many items went.

    Sticker by sticker, since a transaction that holds many rows may wait in a circle with an
    import that holds them in another order.
    """
    before = now - timedelta(days=settings.STICKER_DELETED_PACK_DAYS)
    items = StickerPackItem.objects.filter(pack__deleted_at__lt=before)
    asset_ids = items.order_by("sticker_id").values_list("sticker_id", flat=True).distinct()
    return sum(_let_go(asset_id, before) for asset_id in list(asset_ids[:limit]))


def unused_assets(*, before: datetime) -> Iterable[str]:
    """The ids of stickers that no pack shows and that are older than so."""
    shown = StickerPackItem.objects.filter(sticker=OuterRef("pk"))
    unused = StickerAsset.objects.filter(~Exists(shown), created_at__lt=before)
    return unused.order_by("pk").values_list("pk", flat=True)


@transaction.atomic
def remove_if_unused(asset_id: str) -> bool:
    """Remove a sticker that no pack shows; its files follow by its event. Tells whether it went."""
    sha256 = StickerAsset.objects.filter(pk=asset_id).values_list("sha256", flat=True).first()
    # Locked by the digest, as whoever adds does it: InnoDB locks index by index.
    asset = StickerAsset.objects.select_for_update().filter(sha256=sha256).first()
    if (
        asset is None
        or asset.pk != asset_id
        or StickerPackItem.objects.filter(sticker=asset_id).exists()
    ):
        return False
    asset.delete()
    StoredObject.objects.update_or_create(pk=asset.sha256, defaults={"state": ObjectState.REMOVING})
    payload = {"asset_id": asset_id, "sha256": asset.sha256}
    publish("STICKER_ASSET_REMOVED", "sticker_asset", asset_id, payload, priority=30)
    return True


@transaction.atomic
def _let_go(asset_id: str, before: datetime) -> int:
    """Take one sticker out of the packs deleted before then, and remove it if none is left."""
    items = StickerPackItem.objects.filter(sticker=asset_id, pack__deleted_at__lt=before)
    count, _by_model = items.delete()
    remove_if_unused(asset_id)
    return count


def _locked_row(image: StickerImage, owner_jid: str) -> tuple[StickerAsset, bool]:
    """The row under its lock, and whether it is ours.

    One upsert: on InnoDB an insert that meets an equal row takes a weaker lock, and two of those
    wait for each other for ever.
    """
    wanted = StickerAsset(
        owner_jid=owner_jid,
        sha256=image.sha256,
        mimetype=WEBP_MIMETYPE,
        is_animated=image.is_animated,
        width=image.width,
        height=image.height,
        size_bytes=image.size_bytes,
        storage_path=asset_path(image.sha256),
    )
    own_id = wanted.pk
    has_target = connection.features.supports_update_conflicts_with_target
    StickerAsset.objects.bulk_create(
        [wanted],
        update_conflicts=True,
        update_fields=["sha256"],
        unique_fields=["sha256"] if has_target else None,
    )
    asset = StickerAsset.objects.get(sha256=image.sha256)
    return asset, asset.pk == own_id


def _revive(sha256: str) -> None:
    """Stop a removal of the same picture that is still under way, or wait until it is done."""
    record = StoredObject.objects.select_for_update().filter(pk=sha256).first()
    if record is not None and record.state == ObjectState.REMOVING:
        StoredObject.objects.filter(pk=sha256).update(state=ObjectState.MISSING)


def _has_file(asset: StickerAsset) -> bool:
    try:
        local_file(asset)
    except errors.StickerFileMissing:
        return False
    return True


def _announce(asset: StickerAsset) -> None:
    payload = {
        "asset_id": asset.pk,
        "owner_jid": asset.owner_jid,
        "sha256": asset.sha256,
        "mimetype": asset.mimetype,
    }
    publish("STICKER_ASSET_CREATED", "sticker_asset", asset.pk, payload, priority=85)
