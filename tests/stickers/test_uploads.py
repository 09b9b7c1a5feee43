"""Uploads resume, repeat and fail on their own; a pack is published when all is settled."""

import hashlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from apps.common.scopes import Scope
from apps.outbox.models import OutboxEvent
from apps.outbox.services import drain
from apps.stickers import errors, upload_files
from apps.stickers.models import PackOwner, PackWebUpload, StickerPack
from apps.stickers.services import ownership, packs, processing, uploads
from apps.stickers.services.editing import remove_sticker_at
from apps.stickers.services.processing import process_upload, recover_uploads
from apps.stickers.services.publishing import finalize_pack, publish_state
from apps.stickers.services.uploads import Announcement, append_part, discard_upload, start_upload
from tests.stickers.factories import OWNER, make_pack, webp_bytes
from tests.stickers.pictures import disc, encoded
from tests.stickers.test_pack_rules import in_threads, told

pytestmark = pytest.mark.django_db
PNG = encoded(disc(300, 200), "PNG")


@pytest.fixture
def draft() -> StickerPack:
    return make_pack(status="draft")


def announced(data: bytes, upload_id: str = "", **values: Any) -> Announcement:
    digest = hashlib.sha256(data).hexdigest()
    return Announcement(sha256=digest, size_bytes=len(data), upload_id=upload_id, **values)


def send(pack: StickerPack, data: bytes, upload_id: str = "u1", **values: Any) -> PackWebUpload:
    """Announce a file and send it whole."""
    start_upload(pack.pack_key, announced(data, upload_id, **values), owner_jid=OWNER)
    return append_part(pack.pack_key, upload_id, data, offset=0, owner_jid=OWNER).upload


def fill(pack: StickerPack, count: int = 3) -> None:
    for number in range(count):
        process_upload(send(pack, webp_bytes(number), f"f{number}").pk, now=timezone.now())


def status_of(upload: PackWebUpload) -> str:
    return PackWebUpload.objects.get(pk=upload.pk).upload_status


def test_a_file_in_parts_becomes_a_sticker(draft: StickerPack) -> None:
    start_upload(draft.pack_key, announced(PNG, "u1", emojis=["☕"]), owner_jid=OWNER)
    for start in range(0, len(PNG), 500):
        append_part(draft.pack_key, "u1", PNG[start : start + 500], offset=start, owner_jid=OWNER)
    event = OutboxEvent.objects.get(event_type="STICKER_UPLOAD_RECEIVED")
    process_upload(event.aggregate_id, now=timezone.now())
    item = draft.items.get()
    upload = draft.uploads.get()
    assert (item.emojis, upload.upload_status, upload.sticker_id) == (
        ["☕"],
        "done",
        item.sticker_id,
    )
    assert told(draft)[-2:] == ["status_uploading", "version_bumped"]


def test_an_upload_resumes_where_it_was_cut_off(draft: StickerPack) -> None:
    start_upload(draft.pack_key, announced(PNG, "u1"), owner_jid=OWNER)
    append_part(draft.pack_key, "u1", PNG[:100], offset=0, owner_jid=OWNER)
    again = start_upload(draft.pack_key, announced(PNG, "u1"), owner_jid=OWNER)
    assert (again.received_bytes, again.is_new) == (100, False)
    with pytest.raises(errors.WrongOffset) as refusal:
        append_part(draft.pack_key, "u1", PNG, offset=0, owner_jid=OWNER)
    assert refusal.value.details == {"expected_offset": 100}
    append_part(draft.pack_key, "u1", PNG[100:], offset=100, owner_jid=OWNER)
    assert OutboxEvent.objects.filter(event_type="STICKER_UPLOAD_RECEIVED").count() == 1


def test_the_same_file_under_another_id_is_the_same_upload(draft: StickerPack) -> None:
    first = send(draft, PNG, "u1")
    process_upload(first.pk, now=timezone.now())
    again = start_upload(draft.pack_key, announced(PNG, "u2"), owner_jid=OWNER)
    assert (again.upload.pk, again.upload.upload_status) == (first.pk, "done")
    assert draft.items.count() == 1


def test_an_upload_id_names_one_file_only(draft: StickerPack) -> None:
    send(draft, PNG, "u1")
    with pytest.raises(errors.UploadIdTaken):
        start_upload(draft.pack_key, announced(b"other", "u1"), owner_jid=OWNER)


def test_without_an_id_the_digest_names_the_upload(draft: StickerPack) -> None:
    started = start_upload(draft.pack_key, announced(PNG), owner_jid=OWNER)
    assert started.upload.upload_id == "h-" + hashlib.sha256(PNG).hexdigest()[:24]


def test_working_twice_adds_one_sticker(draft: StickerPack) -> None:
    upload = send(draft, PNG)
    for _time in range(2):
        process_upload(upload.pk, now=timezone.now())
    assert draft.items.count() == 1
    assert PackWebUpload.objects.get().attempt_count == 1


def test_a_sticker_that_the_pack_holds_already_is_fine(draft: StickerPack) -> None:
    for upload_id, data in (("u1", webp_bytes(1)), ("u2", webp_bytes(1, xmp=b"<x/>"))):
        upload = send(draft, data, upload_id)
        process_upload(upload.pk, now=timezone.now())
        assert status_of(upload) == "done"
    assert draft.items.count() == 1


def test_p2_one_bad_file_leaves_the_pack_and_the_others_alone(draft: StickerPack) -> None:
    bad, good = send(draft, b"%PDF-1.7 no picture", "bad"), send(draft, PNG, "good")
    process_upload(bad.pk, now=timezone.now())
    process_upload(good.pk, now=timezone.now())
    bad.refresh_from_db()
    draft.refresh_from_db()
    assert (bad.upload_status, bad.error_code) == ("failed", "format")
    assert (status_of(good), draft.status, draft.items.count()) == ("done", "uploading", 1)


def test_a_failed_upload_may_be_sent_again(draft: StickerPack) -> None:
    upload = send(draft, b"%PDF-1.7 no picture")
    process_upload(upload.pk, now=timezone.now())
    again = start_upload(draft.pack_key, announced(b"%PDF-1.7 no picture", "u1"), owner_jid=OWNER)
    assert (again.upload.upload_status, again.received_bytes) == ("pending", 0)


def test_a_file_that_differs_from_its_digest_is_refused(draft: StickerPack) -> None:
    start_upload(draft.pack_key, announced(b"right", "u1"), owner_jid=OWNER)
    append_part(draft.pack_key, "u1", b"wrong", offset=0, owner_jid=OWNER)
    assert draft.uploads.get().error_code == "hash_mismatch"
    assert not OutboxEvent.objects.filter(event_type="STICKER_UPLOAD_RECEIVED").exists()


def test_more_bytes_than_announced_are_refused(draft: StickerPack) -> None:
    start_upload(draft.pack_key, announced(b"abc", "u1"), owner_jid=OWNER)
    with pytest.raises(errors.InvalidUpload):
        append_part(draft.pack_key, "u1", b"abcd", offset=0, owner_jid=OWNER)


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({"upload_id": "a/b"}, errors.InvalidUpload),
        ({"upload_id": "a" * 121}, errors.InvalidUpload),
        ({"sha256": "A" * 64}, errors.InvalidUpload),
        ({"sha256": "a" * 63}, errors.InvalidUpload),
        ({"size_bytes": 0}, errors.InvalidUpload),
        ({"size_bytes": 21_000_000}, errors.FileTooLarge),
        ({"emojis": ["😀"] * 4}, errors.WrongEmojiCount),
    ],
)
def test_a_wrong_announcement_is_refused(
    draft: StickerPack, values: dict[str, Any], error: type[Exception]
) -> None:
    wish = {"sha256": "a" * 64, "size_bytes": 5} | values
    with pytest.raises(error):
        start_upload(draft.pack_key, Announcement(**wish), owner_jid=OWNER)
    assert not draft.uploads.exists()


def test_more_uploads_than_a_pack_has_room_for_are_refused(
    draft: StickerPack, settings: Any
) -> None:
    settings.STICKER_PACK_MAX_ITEMS = 3
    for number in range(3):
        start_upload(draft.pack_key, announced(b"%d" % number), owner_jid=OWNER)
    with pytest.raises(errors.PackFull):
        start_upload(draft.pack_key, announced(b"more"), owner_jid=OWNER)


def test_strangers_neither_see_nor_fill_a_pack(draft: StickerPack) -> None:
    send(draft, PNG)
    with pytest.raises(errors.NotPackOwner):
        append_part(draft.pack_key, "u1", b"", offset=0, owner_jid="x@s.whatsapp.net")


def test_p2_an_upload_whose_worker_died_is_worked_on_again(draft: StickerPack) -> None:
    upload = send(draft, PNG)
    uploads.claim_upload(upload.pk, now=timezone.now())
    assert recover_uploads(now=timezone.now()).retried == 0
    later = timezone.now() + timedelta(minutes=5)
    assert recover_uploads(now=later).retried == 1
    process_upload(upload.pk, now=later)
    assert (status_of(upload), draft.items.count()) == ("done", 1)


def test_p2_a_picture_that_kills_its_workers_is_given_up(draft: StickerPack) -> None:
    upload = send(draft, PNG)
    for minutes in range(processing.MAX_ATTEMPTS):
        now = timezone.now() + timedelta(minutes=5 * minutes)
        uploads.claim_upload(upload.pk, now=now)
        recover_uploads(now=now + timedelta(minutes=4))
    upload.refresh_from_db()
    assert (upload.upload_status, upload.error_code) == ("failed", "attempts_used_up")


def test_p2_a_worker_that_lost_its_upload_writes_nothing(
    draft: StickerPack, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload = send(draft, PNG)
    convert = processing.to_sticker

    def slow(data: bytes) -> Any:
        PackWebUpload.objects.filter(pk=upload.pk).update(attempt_count=F("attempt_count") + 1)
        return convert(data)

    monkeypatch.setattr(processing, "to_sticker", slow)
    process_upload(upload.pk, now=timezone.now())
    assert (status_of(upload), draft.items.count()) == ("processing", 0)


def test_a_fault_hands_the_upload_back_and_is_raised(
    draft: StickerPack, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(data: bytes) -> Any:
        raise MemoryError

    upload = send(draft, PNG)
    monkeypatch.setattr(processing, "to_sticker", broken)
    with pytest.raises(MemoryError):
        process_upload(upload.pk, now=timezone.now())
    assert status_of(upload) == "pending"


def test_p3_a_pack_that_was_deleted_meanwhile_stays_deleted(draft: StickerPack) -> None:
    upload = send(draft, PNG)
    StickerPack.objects.update(deleted_at=timezone.now())
    process_upload(upload.pk, now=timezone.now())
    assert PackWebUpload.objects.get().error_code == "pack_not_found"
    assert draft.items.count() == 0


def test_p3_finishing_an_upload_never_changes_the_packs_status(draft: StickerPack) -> None:
    upload = send(draft, PNG)
    StickerPack.objects.update(status="published")
    process_upload(upload.pk, now=timezone.now())
    draft.refresh_from_db()
    assert draft.status == "published"


def test_abandoned_sources_are_given_up_after_a_day(draft: StickerPack) -> None:
    started = start_upload(draft.pack_key, announced(PNG, "u1"), owner_jid=OWNER)
    soon, later = (timezone.now() + timedelta(hours=hours) for hours in (1, 25))
    assert recover_uploads(now=soon).given_up == 0
    assert recover_uploads(now=later).given_up == 1
    assert status_of(started.upload) == "failed"


def test_files_of_forgotten_uploads_are_removed(draft: StickerPack) -> None:
    kept = send(draft, PNG)
    upload_files.append("00000000-0000-0000-0000-000000000000", b"x")
    assert processing.remove_stray_sources() == 1
    assert upload_files.received_bytes(kept.pk) == len(PNG)


def test_erasing_a_person_takes_their_uploads_along(draft: StickerPack) -> None:
    packs.create_own_pack(owner_jid=OWNER, name="A", publisher="B")
    send(draft, PNG)
    ownership.release_ownership([OWNER, *PackOwner.objects.values_list("pk", flat=True)])
    assert processing.remove_stray_sources() == 1
    assert not PackWebUpload.objects.exists()
    assert not PackOwner.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_p2_two_workers_on_one_upload_add_one_sticker() -> None:
    pack = make_pack(status="draft")
    upload = send(pack, PNG)
    in_threads(4, lambda _number: process_upload(upload.pk, now=timezone.now()))
    assert (pack.items.count(), status_of(upload)) == (1, "done")
    assert upload_files.received_bytes(upload.pk) == 0


@pytest.mark.django_db(transaction=True)
def test_equal_parts_sent_at_once_are_written_once() -> None:
    pack = make_pack(status="draft")
    start_upload(pack.pack_key, announced(PNG, "u1"), owner_jid=OWNER)
    refused = in_threads(
        4, lambda _n: append_part(pack.pack_key, "u1", PNG[:200], offset=0, owner_jid=OWNER)
    )
    assert refused == ["wrong_offset"] * 3
    assert upload_files.received_bytes(pack.uploads.get().pk) == 200


@pytest.mark.django_db(transaction=True)
def test_the_worker_does_it_from_the_event() -> None:
    pack = make_pack(status="draft")
    send(pack, PNG)
    drain(10)
    assert pack.items.count() == 1


def test_e3_a_filled_pack_is_published_once_and_told(draft: StickerPack) -> None:
    fill(draft)
    for _time in range(2):
        finalize_pack(draft.pack_key, owner_jid=OWNER)
    draft.refresh_from_db()
    assert draft.status == "published"
    assert told(draft).count("status_published") == 1


def test_e4_a_change_whose_event_fails_is_not_made(
    draft: StickerPack, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(draft)
    upload = send(draft, PNG, "last")

    def lost(*args: Any, **options: Any) -> None:
        raise ConnectionError

    monkeypatch.setattr(packs, "publish", lost)
    with pytest.raises(ConnectionError):
        process_upload(upload.pk, now=timezone.now())
    PackWebUpload.objects.filter(pk=upload.pk).delete()
    with pytest.raises(ConnectionError):
        finalize_pack(draft.pack_key, owner_jid=OWNER)
    draft.refresh_from_db()
    assert (draft.status, draft.items.count()) == ("uploading", 3)


def test_a_list_takes_the_same_queries_for_one_upload_and_for_twenty(
    api_as: Callable[..., APIClient], draft: StickerPack
) -> None:
    api, counts = api_as(Scope.PACKS_WRITE), []
    for count in (1, 20):
        for number in range(count):
            start_upload(draft.pack_key, announced(b"%d" % number), owner_jid=OWNER)
        with CaptureQueriesContext(connection) as queries:
            assert (
                len(api.get(f"/api/v1/packs/{draft.pack_key}/uploads").json()["results"]) == count
            )
        counts.append(len(queries))
    assert counts[1] <= counts[0]  # the first request also notes when the token was used


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("failed", "failed_uploads"),
        ("processing", "uploads_processing"),
        ("pending", "uploads_pending"),
    ],
)
def test_open_and_failed_uploads_hinder_publishing(
    draft: StickerPack, status: str, reason: str
) -> None:
    fill(draft)
    send(draft, webp_bytes("more"), "more")
    draft.uploads.filter(upload_id="more").update(upload_status=status)
    with pytest.raises(errors.NotPublishable) as refusal:
        finalize_pack(draft.pack_key, owner_jid=OWNER)
    assert refusal.value.details["reason"] == reason


def test_a_failed_upload_that_is_discarded_hinders_no_more(draft: StickerPack) -> None:
    fill(draft)
    process_upload(send(draft, b"no picture", "bad").pk, now=timezone.now())
    discard_upload(draft.pack_key, "bad", owner_jid=OWNER)
    assert finalize_pack(draft.pack_key, owner_jid=OWNER).status == "published"


def test_an_upload_in_work_is_not_discarded(draft: StickerPack) -> None:
    upload = send(draft, PNG)
    uploads.claim_upload(upload.pk, now=timezone.now())
    with pytest.raises(errors.UploadInWork):
        discard_upload(draft.pack_key, "u1", owner_jid=OWNER)


def test_too_few_stickers_and_a_strange_cover_hinder_publishing(draft: StickerPack) -> None:
    fill(draft, 2)
    draft.refresh_from_db()
    assert publish_state(draft).hindrance == "not_enough_stickers"
    draft.cover_sticker = None
    assert publish_state(draft).hindrance == "cover_missing"


def test_a_deleted_sticker_may_be_uploaded_again(draft: StickerPack) -> None:
    process_upload(send(draft, PNG).pk, now=timezone.now())
    remove_sticker_at(draft.pack_key, 1, owner_jid=OWNER)
    again = start_upload(draft.pack_key, announced(PNG, "u1"), owner_jid=OWNER)
    assert again.upload.upload_status == "pending"


def test_the_whole_way_over_the_api(api_as: Callable[..., APIClient]) -> None:
    api, pack = api_as(Scope.PACKS_WRITE), make_pack(status="draft")
    address = f"/api/v1/packs/{pack.pack_key}"
    for number in range(3):
        send_over(api, address, webp_bytes(number), f"u{number}")
    state = api.get(f"{address}/publish-state").json()
    assert (state["hindrance"], state["uploads"]["pending"]) == ("uploads_pending", 3)
    refused = api.post(f"{address}/finalize")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "not_publishable")
    for upload in pack.uploads.all():
        process_upload(upload.pk, now=timezone.now())
    assert {row["status"] for row in api.get(f"{address}/uploads").json()["results"]} == {"done"}
    assert api.post(f"{address}/finalize").json()["status"] == "published"
    assert api.delete(f"{address}/uploads/u0").status_code == 204


def send_over(api: APIClient, address: str, data: bytes, upload_id: str) -> None:
    digest = hashlib.sha256(data).hexdigest()
    wish = {"sha256": digest, "size_bytes": len(data), "upload_id": upload_id}
    codes = [api.post(f"{address}/uploads", wish, format="json").status_code for _time in range(2)]
    assert codes == [201, 200]
    answer = part(api, f"{address}/uploads/{upload_id}", data, 0)
    assert answer.json()["received_bytes"] == len(data)


def part(api: APIClient, address: str, data: bytes, offset: int) -> Any:
    return api.generic(
        "PATCH",
        address,
        data,
        content_type="application/octet-stream",
        HTTP_UPLOAD_OFFSET=str(offset),
    )


def test_the_api_refuses_parts_that_are_too_large_or_placed_nowhere(
    api_as: Callable[..., APIClient], draft: StickerPack
) -> None:
    api, address = api_as(Scope.PACKS_WRITE), f"/api/v1/packs/{draft.pack_key}/uploads/u1"
    start_upload(draft.pack_key, announced(bytes(3_000_000), "u1"), owner_jid=OWNER)
    assert part(api, address, bytes(2 * 1024 * 1024 + 1), 0).status_code == 400
    assert api.patch(address, {}, format="json").json()["error"]["code"] == "invalid_upload"
    assert part(api, address, b"x", 7).json()["error"]["details"] == {"expected_offset": 0}
    assert part(api, f"{address}-unknown", b"x", 0).status_code == 404
