"""Copies of stickers in the object storage, and what is known of them.

Copies are made by workers, never in a request. When the storage does not answer, that is written
down, pictures are served from the folder, and a minute task makes up for what was missed.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.core.cache import cache
from django.db import transaction

from apps.flags.services import is_enabled
from apps.stickers import errors, object_storage, storage
from apps.stickers.choices import ObjectState
from apps.stickers.models import ObjectStorageHealth, StickerAsset, StoredObject

logger = logging.getLogger(__name__)

DELIVERY_FLAG = "enable_object_storage_delivery"
HEALTH_CACHE_KEY = "stickers:object-storage-is-up"
# A web process learns of an outage this late at most.
HEALTH_CACHE_SECONDS = 5
# The minute task has missed several turns.
HEALTH_MAX_AGE = timedelta(minutes=5)
HEAL_BATCH = 200
RECHECK_AFTER = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class HealReport:
    """What one round of the minute task did."""

    is_up: bool
    stored: int = 0
    removed: int = 0
    lost: int = 0


def store_new_object(asset_id: str, *, now: datetime) -> None:
    """Copy a new sticker where the flag says so; an outage leaves it to the minute task."""
    asset = StickerAsset.objects.filter(pk=asset_id).first()
    if asset is None or not object_storage.is_configured():
        return
    if is_enabled(DELIVERY_FLAG, subject_key=asset.owner_jid or asset.sha256):
        store_object(asset, now=now)


def store_object(asset: StickerAsset, *, now: datetime) -> bool:
    """Copy a sticker and record it; tells whether it can be relied on now.

    The record is written after the object is there, so that it never promises too much. Raises
    StickerFileMissing.
    """
    if StoredObject.objects.filter(sha256=asset.sha256, state=ObjectState.STORED).exists():
        return True
    data = storage.local_file(asset).read_bytes()
    key = storage.object_key(asset.sha256)
    try:
        object_storage.put(key, data)
    except errors.ObjectStorageUnavailable as outage:
        mark_down(outage, now=now)
        _record(asset.sha256, ObjectState.PENDING, last_error=outage.message[:255])
        return False
    record_stored(asset.sha256, key, size_bytes=len(data), now=now)
    return True


def record_stored(sha256: str, key: str, *, size_bytes: int, now: datetime) -> None:
    """Write down that an object was seen where it belongs."""
    _record(
        sha256,
        ObjectState.STORED,
        bucket=settings.OBJECT_STORAGE_BUCKET,
        object_key=key,
        size_bytes=size_bytes,
        stored_at=now,
        checked_at=now,
        last_error="",
    )


def heal(*, now: datetime, limit: int = HEAL_BATCH) -> HealReport:
    """Ask whether the storage answers, and if so make up for what was missed.

    Copies what is pending or was found missing, removes what is to go, and looks at the objects
    that were seen longest ago.
    """
    try:
        object_storage.probe()
    except errors.ObjectStorageUnavailable as outage:
        mark_down(outage, now=now)
        return HealReport(is_up=False)
    _write_health(is_up=True, now=now)
    lost = check_objects(now=now, limit=limit)
    removing = StoredObject.objects.filter(state=ObjectState.REMOVING)
    removed = [remove_files(pk, now=now) for pk in removing.values_list("pk", flat=True)[:limit]]
    return HealReport(is_up=True, stored=_catch_up(now, limit), removed=sum(removed), lost=lost)


def check_objects(*, now: datetime, limit: int, before: datetime | None = None) -> int:
    """Look whether recorded objects are there, longest unseen first; tells how many are not."""
    seen_before = before or now - RECHECK_AFTER
    stored = StoredObject.objects.filter(state=ObjectState.STORED, checked_at__lt=seen_before)
    return sum(not _is_there(each, now) for each in stored.order_by("checked_at")[:limit])


def request_copies(digests: Iterable[str], *, now: datetime) -> int:
    """Have the minute task copy these again; those being removed stay as they are."""
    chosen = StoredObject.objects.filter(pk__in=list(digests))
    wanted = chosen.filter(state__in=(ObjectState.STORED, ObjectState.MISSING))
    return wanted.update(state=ObjectState.PENDING, checked_at=now)


def remove_files(sha256: str, *, now: datetime) -> bool:
    """Remove the files of a sticker that no longer exists; tells whether they are gone.

    The record is the lock between this and somebody who stores the same picture again: whoever
    gets it second sees what the first one did.
    """
    with transaction.atomic():
        record = StoredObject.objects.select_for_update().filter(pk=sha256).first()
        if record is None or record.state != ObjectState.REMOVING:
            return False
        storage.remove_local_file(sha256)
    try:
        if record.object_key and object_storage.is_configured():
            object_storage.delete(record.object_key)
    except errors.ObjectStorageUnavailable as outage:
        mark_down(outage, now=now)
        return False
    if StoredObject.objects.filter(pk=sha256, state=ObjectState.REMOVING).delete()[0]:
        return True
    # Stored again meanwhile, and perhaps before our removal: it has to be copied once more.
    StoredObject.objects.filter(pk=sha256).update(state=ObjectState.MISSING)
    return False


def is_up(*, now: datetime) -> bool:
    """Whether the storage answered when it was last asked; one that was never asked may try.

    An old answer says nothing: where no worker asks any more, the folder is the safer place.
    """
    known = cache.get(HEALTH_CACHE_KEY)
    if known is None:
        health = ObjectStorageHealth.objects.filter(bucket=settings.OBJECT_STORAGE_BUCKET).first()
        known = health is None or (health.is_up and now - health.checked_at < HEALTH_MAX_AGE)
        cache.set(HEALTH_CACHE_KEY, known, HEALTH_CACHE_SECONDS)
    return bool(known)


def mark_down(outage: errors.ObjectStorageUnavailable, *, now: datetime) -> None:
    """Serve from the folder until the storage answers again."""
    _write_health(is_up=False, now=now, error=outage.message)


def delivery_address(asset: StickerAsset, *, is_sensitive: bool, now: datetime) -> str | None:
    """Where a browser gets the picture from the object storage; None: from us.

    Decided by the flag, our record and the storage's health; no file is read and nobody asked.
    """
    if not object_storage.is_configured():
        return None
    if not is_enabled(DELIVERY_FLAG, subject_key=asset.owner_jid or asset.pk or asset.sha256):
        return None
    stored = StoredObject.objects.filter(sha256=asset.sha256, state=ObjectState.STORED).first()
    if stored is None or not is_up(now=now):
        return None
    return object_storage.signed_address(stored.object_key, is_sensitive=is_sensitive)


def _catch_up(now: datetime, limit: int) -> int:
    wanted = StoredObject.objects.filter(state__in=(ObjectState.PENDING, ObjectState.MISSING))
    digests = list(wanted.order_by("checked_at", "pk").values_list("pk", flat=True)[:limit])
    stored = 0
    for asset in StickerAsset.objects.filter(sha256__in=digests).order_by("pk"):
        try:
            stored += store_object(asset, now=now)
        except errors.StickerFileMissing as missing:
            _record(asset.sha256, ObjectState.MISSING, last_error=missing.message, checked_at=now)
    return stored


def _is_there(stored: StoredObject, now: datetime) -> bool:
    try:
        size_bytes = object_storage.size_of(stored.object_key)
    except errors.ObjectMissing as missing:
        logger.warning("stickers.object_lost", extra={"object_key": stored.object_key})
        _record(stored.sha256, ObjectState.MISSING, last_error=missing.message, checked_at=now)
        return False
    is_whole = size_bytes == stored.size_bytes
    state = ObjectState.STORED if is_whole else ObjectState.MISSING
    _record(stored.sha256, state, checked_at=now)
    return is_whole


def _record(sha256: str, state: ObjectState, **values: object) -> None:
    """Write what is known, unless the sticker's files are being removed."""
    values["state"] = state
    known = StoredObject.objects.filter(pk=sha256)
    if known.exclude(state=ObjectState.REMOVING).update(**values) or known.exists():
        return
    StoredObject.objects.get_or_create(pk=sha256, defaults=values)


def _write_health(*, is_up: bool, now: datetime, error: str = "") -> None:
    bucket = settings.OBJECT_STORAGE_BUCKET
    known, is_new = ObjectStorageHealth.objects.get_or_create(
        bucket=bucket,
        defaults={"is_up": is_up, "changed_at": now, "checked_at": now, "last_error": error[:255]},
    )
    if not is_new:
        changed_at = known.changed_at if known.is_up == is_up else now
        ObjectStorageHealth.objects.filter(bucket=bucket).update(
            is_up=is_up, changed_at=changed_at, checked_at=now, last_error=error[:255]
        )
    if is_new or known.is_up != is_up:
        logger.warning("stickers.object_storage_changed", extra={"is_up": is_up})
    cache.delete(HEALTH_CACHE_KEY)
