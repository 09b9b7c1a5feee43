"""Copies in an S3 server process: made by workers, delivered by signed addresses, healed."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from io import StringIO
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import pytest
import requests
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.flags.services import set_flag
from apps.outbox.services import drain
from apps.stickers import errors, object_storage, storage
from apps.stickers.checks import check_object_storage
from apps.stickers.choices import ObjectState
from apps.stickers.models import (
    AssetClassification,
    ObjectStorageHealth,
    StickerAsset,
    StickerPack,
    StickerPackItem,
    StoredObject,
)
from apps.stickers.services import assets, objects
from apps.stickers.services.classification import classify_pending
from apps.stickers.services.editing import delete_pack
from apps.stickers.services.packs import add_sticker
from tests.servers import free_port
from tests.stickers.factories import OWNER, make_pack, sticker_image
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db
BUCKET = "stickers-test"


class MotoServer:
    """An S3 server in a process of its own, which can be stopped and started again."""

    def __init__(self) -> None:
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start, wait until it answers, and make the bucket."""
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]
        self._process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wait_until(self._answers, seconds=60)
        assert requests.put(f"{self.address}/{BUCKET}", timeout=10).ok

    def stop(self) -> None:
        """What an outage is; everything stored is lost with it."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        try:
            return requests.get(f"{self.address}/moto-api/", timeout=2).ok
        except requests.RequestException:
            return False


@pytest.fixture(scope="module")
def server() -> Iterator[MotoServer]:
    moto = MotoServer()
    moto.start()
    yield moto
    moto.stop()


@pytest.fixture(autouse=True)
def _configured(server: MotoServer, settings: Any) -> Iterator[None]:
    if server._process is None:
        server.start()
    settings.OBJECT_STORAGE_BUCKET = BUCKET
    settings.OBJECT_STORAGE_ENDPOINT = server.address
    settings.OBJECT_STORAGE_ACCESS_KEY_ID = "key"
    settings.OBJECT_STORAGE_SECRET_ACCESS_KEY = "secret"
    settings.OBJECT_STORAGE_TIMEOUT_SECONDS = 2
    cache.delete(objects.HEALTH_CACHE_KEY)
    yield
    cache.delete(objects.HEALTH_CACHE_KEY)


@pytest.fixture
def delivered(db: None) -> None:
    set_flag("enable_object_storage_delivery", is_enabled=True, rollout_percent=100, actor="test")


@pytest.fixture
def asset() -> StickerAsset:
    make_pack(stickers=1)
    return StickerAsset.objects.get()


def now() -> Any:
    return timezone.now()


def address_of(asset: StickerAsset) -> str:
    return f"/stickers/assets/{asset.sha256}.webp"


def state_of(asset: StickerAsset) -> str:
    return StoredObject.objects.get(pk=asset.sha256).state


@pytest.mark.django_db(transaction=True)
def test_o4_a_sticker_is_copied_by_the_worker_and_never_by_the_request(delivered: None) -> None:
    make_pack(stickers=1)
    asset = StickerAsset.objects.get()
    assert not StoredObject.objects.exists()
    drain(20)
    stored = StoredObject.objects.get()
    assert (stored.pk, stored.state, stored.size_bytes) == (
        asset.sha256,
        "stored",
        asset.size_bytes,
    )
    assert object_storage.get(stored.object_key) == storage.read_asset(asset)


def test_o4_a_dead_storage_does_not_slow_the_author_down(
    delivered: None, server: MotoServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(*args: Any, **options: Any) -> Any:
        raise AssertionError("the request asked the object storage")

    monkeypatch.setattr(object_storage, "_asked", asked)
    assert make_pack(stickers=1).items.count() == 1


def test_a_signed_address_delivers_the_picture_and_its_parts(
    delivered: None, client: Client, asset: StickerAsset
) -> None:
    objects.store_object(asset, now=now())
    answer = client.get(address_of(asset))
    assert answer.status_code == 302
    assert answer["Cache-Control"] == "private, max-age=150"
    shown = requests.get(answer["Location"], timeout=10)
    assert shown.content == storage.read_asset(asset)
    assert shown.headers["Content-Type"] == "image/webp"
    assert "immutable" in shown.headers["Cache-Control"]
    part = requests.get(answer["Location"], headers={"Range": "bytes=0-3"}, timeout=10)
    assert (part.status_code, part.content) == (206, b"RIFF")


def test_a_signed_address_expires(asset: StickerAsset, settings: Any) -> None:
    settings.OBJECT_STORAGE_SIGNED_URL_SECONDS = 60
    address = object_storage.signed_address("stickers/x.webp", is_sensitive=False)
    assert "X-Amz-Expires=60" in address
    assert "X-Amz-Signature=" in address


def test_o2_the_file_is_not_read_before_a_redirect(
    delivered: None, client: Client, asset: StickerAsset
) -> None:
    objects.store_object(asset, now=now())
    storage.local_file(asset).unlink()
    assert client.get(address_of(asset)).status_code == 302


def test_o1_one_key_serves_everybody_who_shows_the_picture(delivered: None, client: Client) -> None:
    image = sticker_image()
    for owner in (OWNER, "5521912345678@s.whatsapp.net"):
        pack = make_pack(owner_jid=owner)
        add_sticker(pack.pack_key, image, owner_jid=owner)
    asset = StickerAsset.objects.get()
    objects.store_object(asset, now=now())
    StickerAsset.objects.update(owner_jid="5531912345678@s.whatsapp.net")
    location = client.get(address_of(asset))["Location"]
    assert requests.get(location, timeout=10).content == image.data


def test_o1_without_a_record_nobody_is_redirected(
    delivered: None, client: Client, asset: StickerAsset
) -> None:
    assert client.get(address_of(asset)).status_code == 200


def test_without_the_flag_nothing_is_copied_or_redirected(
    client: Client, asset: StickerAsset
) -> None:
    objects.store_new_object(asset.pk, now=now())
    assert not StoredObject.objects.exists()
    objects.store_object(asset, now=now())
    assert client.get(address_of(asset)).status_code == 200


def test_the_flag_is_asked_by_the_owner(
    client: Client, asset: StickerAsset, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []

    def is_enabled(name: str, *, subject_key: str) -> bool:
        asked.append((name, subject_key))
        return True

    monkeypatch.setattr(objects, "is_enabled", is_enabled)
    objects.store_new_object(asset.pk, now=now())
    client.get(address_of(asset))
    assert asked == [("enable_object_storage_delivery", OWNER)] * 2


def test_o5_sensitive_pictures_are_private_on_the_whole_way(
    delivered: None, client: Client, asset: StickerAsset, settings: Any
) -> None:
    settings.OBJECT_STORAGE_CDN_URL = "https://cdn.example"
    AssetClassification.objects.create(asset=asset, is_nsfw=True)
    objects.store_object(asset, now=now())
    answer = client.get(address_of(asset))
    assert "private" in answer["Cache-Control"]
    assert "cdn.example" not in answer["Location"]
    shown = requests.get(answer["Location"], timeout=10)
    assert shown.headers["Cache-Control"] == "private, max-age=300"


def test_o3_a_cdn_is_used_and_signed_where_it_has_a_key(
    delivered: None, client: Client, asset: StickerAsset, settings: Any, tmp_path: Path
) -> None:
    objects.store_object(asset, now=now())
    settings.OBJECT_STORAGE_CDN_URL = "https://cdn.example/files/"
    plain = client.get(address_of(asset))["Location"]
    assert plain == f"https://cdn.example/files/{storage.object_key(asset.sha256)}"
    settings.OBJECT_STORAGE_CDN_KEY_ID = "K1"
    settings.OBJECT_STORAGE_CDN_PRIVATE_KEY_FILE = str(private_key(tmp_path))
    signed = client.get(address_of(asset))["Location"]
    assert signed.startswith(plain)
    assert "Key-Pair-Id=K1" in signed


def private_key(folder: Path) -> Path:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    path = folder / "cdn.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
    )
    return path


def test_a_redirect_costs_few_queries(delivered: None, client: Client, asset: StickerAsset) -> None:
    objects.store_object(asset, now=now())
    client.get(address_of(asset))
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address_of(asset)).status_code == 302
    assert len(queries) == 2  # the sticker, and the record of its copy


def test_a_half_configured_storage_is_found_at_the_start(settings: Any, tmp_path: Path) -> None:
    assert check_object_storage(None) == []
    settings.OBJECT_STORAGE_SECRET_ACCESS_KEY = ""
    settings.OBJECT_STORAGE_CDN_KEY_ID = "K1"
    settings.OBJECT_STORAGE_CDN_PRIVATE_KEY_FILE = str(tmp_path / "none.pem")
    found = [message.id for message in check_object_storage(None)]
    assert found == ["stickers.E001", "stickers.E002"]
    settings.OBJECT_STORAGE_BUCKET = ""
    assert check_object_storage(None) == []


def test_a_head_request_is_answered_here(
    delivered: None, client: Client, asset: StickerAsset
) -> None:
    objects.store_object(asset, now=now())
    assert client.head(address_of(asset)).status_code == 200


def test_a_lost_file_is_read_from_its_copy(client: Client, asset: StickerAsset) -> None:
    data = storage.read_asset(asset)
    objects.store_object(asset, now=now())
    storage.local_file(asset).unlink()
    assert storage.read_asset(asset) == data
    assert client.get(address_of(asset)).content == data


def test_an_object_that_vanished_is_found_out_and_copied_again(
    delivered: None, client: Client, asset: StickerAsset
) -> None:
    objects.store_object(asset, now=now())
    object_storage.delete(storage.object_key(asset.sha256))
    assert objects.heal(now=now()).lost == 0  # seen a moment ago
    tomorrow = now() + timedelta(hours=25)
    report = objects.heal(now=tomorrow)
    assert (report.lost, report.stored) == (1, 1)
    assert object_storage.size_of(storage.object_key(asset.sha256)) == asset.size_bytes


def test_an_object_without_a_file_stays_missing(asset: StickerAsset) -> None:
    objects.store_object(asset, now=now())
    storage.local_file(asset).unlink()
    object_storage.delete(storage.object_key(asset.sha256))
    assert objects.heal(now=now() + timedelta(hours=25)).stored == 0
    assert state_of(asset) == "missing"
    with pytest.raises(errors.StickerFileMissing):
        storage.read_asset(asset)


def test_an_outage_falls_back_to_the_folder_and_heals(
    delivered: None, client: Client, asset: StickerAsset, server: MotoServer
) -> None:
    objects.store_object(asset, now=now())
    server.stop()
    assert not objects.heal(now=now()).is_up
    assert client.get(address_of(asset)).content == storage.read_asset(asset)
    second = sticker_image()
    add_sticker(StickerPack.objects.get().pack_key, second, owner_jid=OWNER)
    newer = StickerAsset.objects.get(sha256=second.sha256)
    objects.store_new_object(newer.pk, now=now())
    assert state_of(newer) == "pending"
    server.start()  # empty, as after a disaster
    tomorrow = now() + timedelta(hours=25)
    assert objects.heal(now=tomorrow) == objects.HealReport(is_up=True, stored=2, lost=1)
    assert client.get(address_of(newer)).status_code == 302
    assert ObjectStorageHealth.objects.get().is_up


def test_w10_an_outage_postpones_a_sticker_and_makes_no_fallback_row(
    asset: StickerAsset, server: MotoServer
) -> None:
    objects.store_object(asset, now=now())
    storage.local_file(asset).unlink()
    server.stop()
    assert classify_pending(now=now()).postponed == 1
    assert not AssetClassification.objects.exists()


def test_w10_a_sticker_in_the_object_storage_alone_is_classified(asset: StickerAsset) -> None:
    objects.store_object(asset, now=now())
    storage.local_file(asset).unlink()
    classify_pending(now=now())
    assert AssetClassification.objects.get().category != "invalid image"


def test_an_old_answer_of_the_storage_is_not_believed(
    delivered: None, client: Client, asset: StickerAsset
) -> None:
    objects.store_object(asset, now=now())
    objects.heal(now=now() - timedelta(minutes=6))
    assert client.get(address_of(asset)).status_code == 200
    objects.heal(now=now())
    assert client.get(address_of(asset)).status_code == 302


def test_a_picture_that_lies_nowhere_reachable_answers_503(
    delivered: None, client: Client, asset: StickerAsset, server: MotoServer
) -> None:
    objects.store_object(asset, now=now())
    storage.local_file(asset).unlink()
    server.stop()
    objects.heal(now=now())
    assert client.get(address_of(asset)).status_code == 503


def test_the_backfill_copies_what_is_missing_and_can_be_repeated() -> None:
    make_pack(stickers=3)
    assert run("backfill_objects", "--dry-run", "--json") == {"missing": 3}
    assert run("backfill_objects", "--json", "--limit", "1")["stored"] == 1
    assert run("backfill_objects", "--json")["stored"] == 2
    assert run("backfill_objects", "--json")["stored"] == 0
    assert StoredObject.objects.filter(state="stored").count() == 3


def test_the_backfill_adopts_objects_of_the_original(asset: StickerAsset) -> None:
    (key,) = storage.adoptable_keys(asset)
    assert key == f"stickers/5511987654321_s.whatsapp.net/{asset.sha256}.webp"
    object_storage.put(key, storage.read_asset(asset))
    assert run("backfill_objects", "--json", "--adopt")["adopted"] == 1
    assert StoredObject.objects.get().object_key == key


def test_the_backfill_says_what_it_cannot_do(asset: StickerAsset, settings: Any) -> None:
    storage.local_file(asset).unlink()
    assert run("backfill_objects", "--json")["without_file"] == 1
    settings.OBJECT_STORAGE_BUCKET = ""
    with pytest.raises(CommandError, match="OBJECT_STORAGE_BUCKET"):
        run("backfill_objects")


def test_the_backfill_fails_during_an_outage(asset: StickerAsset, settings: Any) -> None:
    settings.OBJECT_STORAGE_ENDPOINT = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(CommandError, match="does not answer"):
        run("backfill_objects")


def run(*arguments: str) -> Any:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return json.loads(out.getvalue() or "null")


def test_o6_stickers_of_long_deleted_packs_are_removed_unless_others_show_them() -> None:
    shared, own = sticker_image(), sticker_image()
    gone, stays = make_pack(), make_pack()
    for pack, image in ((gone, shared), (gone, own), (stays, shared)):
        add_sticker(pack.pack_key, image, owner_jid=OWNER)
    for asset in StickerAsset.objects.all():
        objects.store_object(asset, now=now())
    delete_pack(gone.pack_key, owner_jid=OWNER)
    assert assets.purge_deleted_packs(now=now()) == 0
    assert assets.purge_deleted_packs(now=now() + timedelta(days=31)) == 2
    assert StickerAsset.objects.get().sha256 == shared.sha256
    assert objects.remove_files(own.sha256, now=now())
    assert not objects.remove_files(shared.sha256, now=now())
    with pytest.raises(errors.ObjectMissing):
        object_storage.get(storage.object_key(own.sha256))
    assert set(StoredObject.objects.values_list("pk", flat=True)) == {shared.sha256}


def test_o6_a_picture_stored_again_before_its_removal_stays(asset: StickerAsset) -> None:
    data = storage.read_asset(asset)
    objects.store_object(asset, now=now())
    StickerPackItem.objects.all().delete()
    assert run("prune_stickers", "--days", "-1", "--json") == {"unused": 1, "removed": 1}
    image = sticker_image_of(data)
    add_sticker(make_pack().pack_key, image, owner_jid=OWNER)
    assert not objects.remove_files(image.sha256, now=now())
    assert state_of(asset) == "missing"
    assert storage.read_asset(StickerAsset.objects.get()) == data
    assert objects.heal(now=now()).stored == 1


def test_o6_a_removal_during_an_outage_is_made_up_for(
    asset: StickerAsset, server: MotoServer
) -> None:
    objects.store_object(asset, now=now())
    StickerPackItem.objects.all().delete()
    assert assets.remove_if_unused(asset.pk)
    server.stop()
    assert not objects.remove_files(asset.sha256, now=now())
    server.start()
    assert objects.heal(now=now()).removed == 1
    assert not StoredObject.objects.exists()


def test_pruning_only_counts_when_it_is_dry(asset: StickerAsset) -> None:
    StickerPackItem.objects.all().delete()
    assert run("prune_stickers", "--days", "-1", "--dry-run", "--json")["removed"] == 0
    assert StickerAsset.objects.exists()


def sticker_image_of(data: bytes) -> Any:
    from apps.stickers.images import read_sticker

    return read_sticker(data)


@pytest.mark.django_db(transaction=True)
def test_o6_adding_and_removing_at_once_never_leaves_an_item_without_its_file() -> None:
    for _round in range(5):
        image, pack = sticker_image(), make_pack()
        first = add_sticker(pack.pack_key, image, owner_jid=OWNER)
        StickerPackItem.objects.filter(pk=first.pk).delete()
        StickerPack.objects.update(cover_sticker=None)
        other = make_pack()
        barrier = Barrier(2)

        def add(other: StickerPack = other, image: Any = image, barrier: Barrier = barrier) -> None:
            barrier.wait()
            add_sticker(other.pack_key, image, owner_jid=OWNER)

        def remove(image: Any = image, first: Any = first, barrier: Barrier = barrier) -> None:
            barrier.wait()
            assets.remove_if_unused(first.sticker_id)
            objects.remove_files(image.sha256, now=now())

        both(add, remove)
        shown = other.items.get().sticker
        assert storage.read_asset(shown) == image.data


@pytest.mark.mysql
@pytest.mark.django_db(transaction=True)
def test_o6_whoever_removes_waits_for_whoever_adds() -> None:
    image, pack = sticker_image(), make_pack()
    first = add_sticker(pack.pack_key, image, owner_jid=OWNER)
    StickerPackItem.objects.filter(pk=first.pk).delete()
    other, added, results = make_pack(), Event(), []

    def add() -> None:
        with transaction.atomic():
            add_sticker(other.pack_key, image, owner_jid=OWNER)
            added.set()
            wait_until(somebody_waits, seconds=10)

    def remove() -> None:
        added.wait(10)
        results.append(assets.remove_if_unused(first.sticker_id))

    both(add, remove)
    assert results == [False]
    assert other.items.count() == 1


def somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SHOW ENGINE INNODB STATUS")
        transactions = cursor.fetchone()[2].rpartition("TRANSACTIONS")[2]
        return "LOCK WAIT" in transactions


def both(*works: Any) -> None:
    def run_one(work: Any) -> None:
        try:
            work()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works)) as pool:
        list(pool.map(run_one, works))


def test_the_client_is_loaded_only_where_it_is_used() -> None:
    code = (
        "import django, sys; django.setup(); import config.urls, apps.stickers.handlers;"
        "print('boto3' in sys.modules, 'storages' in sys.modules)"
    )
    environment = os.environ | {"DEBUG": "true", "DJANGO_SETTINGS_MODULE": "config.settings"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "False"]


def test_the_admin_shows_objects_and_copies_them_again(
    admin_client: Client, asset: StickerAsset
) -> None:
    objects.store_object(asset, now=now())
    objects.heal(now=now())
    address = "/admin/stickers/storedobject/"
    assert asset.sha256 in admin_client.get(address).content.decode()
    wish = {"action": "store_again", "_selected_action": [asset.sha256]}
    assert admin_client.post(address, wish, follow=True).status_code == 200
    assert state_of(asset) == ObjectState.PENDING
    health = admin_client.get("/admin/stickers/objectstoragehealth/").content.decode()
    assert BUCKET in health
