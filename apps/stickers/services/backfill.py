"""Copying what was there before the object storage was."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef, QuerySet

from apps.stickers import errors, object_storage, storage
from apps.stickers.choices import ObjectState
from apps.stickers.models import StickerAsset, StoredObject
from apps.stickers.services.objects import record_stored, store_object

BATCH = 200


@dataclass(slots=True)
class BackfillReport:
    """What became of the stickers without a copy; a failure ends the run."""

    stored: int = 0
    adopted: int = 0
    without_file: int = 0
    failed: int = 0


def missing_assets() -> QuerySet[StickerAsset]:
    """Stickers without a copy that can be relied on, in id order."""
    stored = StoredObject.objects.filter(sha256=OuterRef("sha256"), state=ObjectState.STORED)
    return StickerAsset.objects.filter(~Exists(stored)).order_by("pk")


def backfill(
    *,
    now: datetime,
    limit: int | None = None,
    adopts: bool = False,
    on_sticker: Callable[[], None] = lambda: None,
) -> BackfillReport:
    """Copy or adopt each, batch by batch, until none is left or the storage does not answer."""
    report = BackfillReport()
    last_pk, done = "", 0
    while batch := list(missing_assets().filter(pk__gt=last_pk)[:BATCH]):
        for asset in batch:
            if report.failed or (limit is not None and done >= limit):
                return report
            _copy(asset, report, now=now, adopts=adopts)
            last_pk, done = asset.pk, done + 1
            on_sticker()
    return report


def _copy(asset: StickerAsset, report: BackfillReport, *, now: datetime, adopts: bool) -> None:
    try:
        if adopts and _adopt(asset, now=now):
            report.adopted += 1
        elif store_object(asset, now=now):
            report.stored += 1
        else:
            report.failed += 1
    except errors.StickerFileMissing:
        report.without_file += 1
    except errors.ObjectStorageUnavailable:
        report.failed += 1


def _adopt(asset: StickerAsset, *, now: datetime) -> bool:
    """Record an object of the original where its size fits."""
    for key in storage.adoptable_keys(asset):
        try:
            size_bytes = object_storage.size_of(key)
        except errors.ObjectMissing:
            continue
        if size_bytes == asset.size_bytes:
            record_stored(asset.sha256, key, size_bytes=size_bytes, now=now)
            return True
    return False
