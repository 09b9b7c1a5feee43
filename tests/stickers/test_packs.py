"""Packs keep their limits, and every change is told in its transaction."""

from typing import Any

import pytest
from django.db import transaction

from apps.outbox.models import OutboxEvent
from apps.stickers import errors
from apps.stickers.models import StickerAsset, StickerPack
from apps.stickers.services.packs import add_sticker, create_pack
from apps.stickers.storage import read_asset
from tests.stickers.factories import OWNER, make_pack, sticker_image

pytestmark = pytest.mark.django_db


def event_types() -> list[str]:
    return list(OutboxEvent.objects.order_by("pk").values_list("event_type", flat=True))


def test_a_new_pack_is_announced() -> None:
    pack = create_pack(owner_jid=OWNER, name="Cups", publisher="Ana")
    event = OutboxEvent.objects.get()
    assert (event.event_type, event.aggregate_id) == ("PACK_UPDATED", pack.pk)
    assert event.payload["action"] == "created"


def test_a_sticker_gets_the_next_place_and_the_first_becomes_the_cover() -> None:
    pack = make_pack(stickers=2)
    assert list(pack.items.order_by("position").values_list("position", flat=True)) == [1, 2]
    assert pack.cover_sticker == pack.items.get(position=1).sticker
    assert pack.version == 3


def test_an_image_is_stored_once_however_many_packs_show_it() -> None:
    image = sticker_image()
    for _number in range(2):
        add_sticker(make_pack().pack_key, image, owner_jid=OWNER)
    asset = StickerAsset.objects.get()
    assert read_asset(asset) == image.data
    assert event_types().count("STICKER_ASSET_CREATED") == 1


def test_a_failed_change_leaves_neither_rows_nor_events() -> None:
    def fails() -> None:
        with transaction.atomic():
            make_pack(stickers=1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert not StickerPack.objects.exists()
    assert event_types() == []


def test_the_same_image_twice_is_refused() -> None:
    pack, image = make_pack(), sticker_image()
    add_sticker(pack.pack_key, image, owner_jid=OWNER)
    with pytest.raises(errors.DuplicateSticker):
        add_sticker(pack.pack_key, image, owner_jid=OWNER)


def test_a_full_pack_refuses_another(settings: Any) -> None:
    settings.STICKER_PACK_MAX_ITEMS = 3
    pack = make_pack(stickers=3)
    with pytest.raises(errors.PackFull):
        add_sticker(pack.pack_key, sticker_image(), owner_jid=OWNER)


def test_still_and_animated_are_never_mixed() -> None:
    pack = make_pack(stickers=1)
    with pytest.raises(errors.MixedAnimation, match="only still"):
        add_sticker(pack.pack_key, sticker_image(frames=2), owner_jid=OWNER)


def test_somebody_elses_pack_is_refused() -> None:
    with pytest.raises(errors.NotPackOwner):
        add_sticker(make_pack().pack_key, sticker_image(), owner_jid="other@s.whatsapp.net")


def test_four_emojis_are_refused_and_nothing_is_stored() -> None:
    pack = make_pack()
    with pytest.raises(errors.WrongEmojiCount):
        add_sticker(pack.pack_key, sticker_image(), owner_jid=OWNER, emojis=["😀"] * 4)
    assert not StickerAsset.objects.exists()
