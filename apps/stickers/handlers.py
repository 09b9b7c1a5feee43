"""What the sticker service does when something happened.

Snapshots are refreshed by batch handlers, so that a thousand likes of one pack cost a handful of
refreshes. A refresh publishes nothing, so nothing feeds back. The curation does publish what it
changed, under an action of its own, by which a change of its own never calls it again (E7).
"""

from collections.abc import Sequence

from django.conf import settings
from django.utils import timezone

from apps.outbox.events import Event
from apps.outbox.registry import handles
from apps.stickers import object_storage, queries
from apps.stickers.choices import WorkerTaskType
from apps.stickers.services import objects, ownership, processing, snapshots, worker_tasks
from apps.stickers.services.curation import ACTION
from apps.stickers.services.curation_scene import auto_packs

# An automatic pack is created by the curation alone.
OWN_ACTIONS = (ACTION, "created")


@handles("STICKER_ASSET_CREATED", batch=True)
def classify_new_stickers(events: Sequence[Event]) -> None:
    """New stickers want a classification; one run serves all of them."""
    worker_tasks.enqueue_task(WorkerTaskType.CLASSIFICATION_CYCLE, priority=80)


@handles("STICKER_ASSET_CREATED", only_if=lambda _event: object_storage.is_configured())
def store_new_object(event: Event) -> None:
    """Copy a new sticker into the object storage. Running it twice copies once."""
    objects.store_new_object(event.aggregate_id, now=timezone.now())


@handles("STICKER_ASSET_REMOVED")
def remove_files(event: Event) -> None:
    """Remove the files of a sticker that is gone. Running it twice removes once."""
    objects.remove_files(event.payload["sha256"], now=timezone.now())


@handles("STICKER_UPLOAD_RECEIVED")
def process_received_upload(event: Event) -> None:
    """Make a sticker of a received file. Running it twice adds nothing."""
    processing.process_upload(event.aggregate_id, now=timezone.now())


@handles("STICKER_CLASSIFIED", batch=True)
def refresh_packs_of_stickers(events: Sequence[Event]) -> None:
    """A classification changes the scores of every pack that shows the sticker."""
    asset_ids = [event.aggregate_id for event in events]
    snapshots.refresh_snapshots(queries.packs_showing(asset_ids), now=timezone.now())


@handles("STICKER_CLASSIFIED", batch=True)
def curate_classified_stickers(events: Sequence[Event]) -> None:
    """Classified stickers may join automatic packs; one run serves all of them."""
    if settings.CURATION_ENABLED:
        worker_tasks.enqueue_task(WorkerTaskType.CURATION_CYCLE, priority=65)


@handles("PACK_UPDATED", batch=True)
def mend_automatic_packs(events: Sequence[Event]) -> None:
    """Somebody else than the curation changed an automatic pack: it is put in order."""
    changed = [e.aggregate_id for e in events if e.payload.get("action") not in OWN_ACTIONS]
    if settings.CURATION_ENABLED and auto_packs().filter(pk__in=changed).exists():
        worker_tasks.enqueue_task(WorkerTaskType.REBUILD_CYCLE, priority=60)


@handles("PACK_UPDATED", "ENGAGEMENT_RECORDED", batch=True)
def refresh_packs(events: Sequence[Event]) -> None:
    """A pack or what visitors did with it changed."""
    snapshots.refresh_snapshots([event.aggregate_id for event in events], now=timezone.now())


@handles("IDENTITY_RECONCILED", ordered=True)
def move_packs_to_the_phone(event: Event) -> None:
    """What was kept under a LID belongs to the phone behind it. Running it twice moves nothing."""
    ownership.move_ownership(event.payload["lids"], event.payload["jid"])
