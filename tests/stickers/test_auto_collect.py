"""A person's new stickers are kept without changing what others can see."""

import threading

import pytest
from django.db import connection

from apps.stickers.models import StickerPack, StickerPackItem
from apps.stickers.services.auto_collect import collect_sticker
from tests.stickers.factories import OWNER, make_pack, sticker_image

pytestmark = pytest.mark.django_db


def collect(**options: int) -> StickerPackItem:
    return collect_sticker(sticker_image(**options), owner_jid=OWNER, publisher="Ana")


def test_p4_no_pack_changes_its_visibility() -> None:
    private = make_pack(name="private", visibility="private")
    public = make_pack(name="public", visibility="public")
    collect()
    for pack, visibility in ((private, "private"), (public, "public")):
        pack.refresh_from_db()
        assert (pack.visibility, pack.items.count()) == (visibility, 0)
    kept = StickerPack.objects.get(visibility="unlisted")
    assert (kept.name, kept.items.count()) == ("Pack 1", 1)


def test_new_stickers_go_into_the_unlisted_pack_that_is_there() -> None:
    pack = make_pack(name="mine", visibility="unlisted")
    assert [collect().pack_id for _number in range(3)] == [pack.pk] * 3


def test_a_full_pack_rolls_over(settings: object) -> None:
    settings.STICKER_PACK_MAX_ITEMS = 3  # type: ignore[attr-defined]
    packs = [collect().pack_id for _number in range(7)]
    assert [packs.count(pack) for pack in dict.fromkeys(packs)] == [3, 3, 1]
    assert set(StickerPack.objects.values_list("name", flat=True)) == {"Pack 1", "Pack 2", "Pack 3"}


def test_still_and_animated_stickers_are_kept_apart() -> None:
    assert collect().pack_id != collect(frames=3).pack_id
    assert StickerPack.objects.count() == 2


def test_a_sticker_that_is_kept_stays_where_it_is() -> None:
    image = sticker_image()
    first = collect_sticker(image, owner_jid=OWNER, publisher="Ana")
    assert collect_sticker(image, owner_jid=OWNER, publisher="Ana") == first


@pytest.mark.django_db(transaction=True)
def test_stickers_that_arrive_at_once_all_find_room() -> None:
    make_pack(name="mine", visibility="unlisted")
    images = [sticker_image() for _number in range(4)]
    barrier = threading.Barrier(4)

    def keep(number: int) -> None:
        barrier.wait()
        collect_sticker(images[number], owner_jid=OWNER, publisher="Ana")
        connection.close()

    threads = [threading.Thread(target=keep, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = (StickerPack.objects.count(), StickerPackItem.objects.count())
    # The flush after this test meets RESTRICT, which SQLite checks row by row.
    StickerPackItem.objects.all().delete()
    assert counts == (1, 4)
