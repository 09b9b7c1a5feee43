"""Packs are changed under their lock, and every change is told."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rest_framework.test import APIClient

from apps.common.scopes import Scope
from apps.outbox.models import OutboxEvent
from apps.stickers import errors
from apps.stickers.models import StickerPack
from apps.stickers.services.editing import (
    delete_pack,
    edit_pack,
    remove_sticker,
    reorder_stickers,
    set_cover,
)
from tests.stickers.factories import OWNER, make_pack

pytestmark = pytest.mark.django_db


def order_of(pack: StickerPack) -> list[str]:
    return list(pack.items.order_by("position").values_list("sticker_id", flat=True))


def test_a_rename_raises_the_version_and_is_told_each_time() -> None:
    pack = make_pack()
    for name in ("First", "Second"):
        edit_pack(pack.pack_key, owner_jid=OWNER, name=f"  {name}\n name ")
    pack.refresh_from_db()
    assert (pack.name, pack.version) == ("Second name", 3)
    told = OutboxEvent.objects.filter(payload__fields=["name"])
    assert told.count() == 2


def test_a_change_that_changes_nothing_is_not_told() -> None:
    pack = make_pack(name="Same")
    edit_pack(pack.pack_key, owner_jid=OWNER, name="Same")
    assert not OutboxEvent.objects.filter(payload__action="updated").exists()


def test_an_empty_name_is_refused() -> None:
    with pytest.raises(errors.InvalidText):
        edit_pack(make_pack().pack_key, owner_jid=OWNER, name=" \n ")


def test_removing_closes_the_gap_and_passes_the_cover_on() -> None:
    pack = make_pack(stickers=4)
    first, second, third, fourth = order_of(pack)
    remove_sticker(pack.pack_key, first, owner_jid=OWNER)
    pack.refresh_from_db()
    assert order_of(pack) == [second, third, fourth]
    assert list(pack.items.order_by("position").values_list("position", flat=True)) == [1, 2, 3]
    assert pack.cover_sticker_id == second
    with pytest.raises(errors.StickerNotInPack):
        remove_sticker(pack.pack_key, first, owner_jid=OWNER)


def test_reordering_ignores_what_is_unknown_or_named_twice() -> None:
    pack = make_pack(stickers=3)
    a, b, c = order_of(pack)
    reorder_stickers(pack.pack_key, [c, "nobody", c, a], owner_jid=OWNER)
    assert order_of(pack) == [c, a, b]


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.permutations(range(5)))
def test_any_order_can_be_asked_for(wanted: list[int]) -> None:
    pack = make_pack(stickers=5)
    ids = order_of(pack)
    reorder_stickers(pack.pack_key, [ids[n] for n in wanted], owner_jid=OWNER)
    assert order_of(pack) == [ids[n] for n in wanted]


def test_a_deleted_pack_is_gone_and_its_key_stays_taken() -> None:
    pack = make_pack()
    delete_pack(pack.pack_key, owner_jid=OWNER)
    assert StickerPack.objects.get(pk=pack.pk).deleted_at
    with pytest.raises(errors.PackNotFound):
        delete_pack(pack.pack_key, owner_jid=OWNER)


def test_only_a_sticker_of_the_pack_becomes_its_cover() -> None:
    pack = make_pack(stickers=2)
    _first, second = order_of(pack)
    assert set_cover(pack.pack_key, second, owner_jid=OWNER).cover_sticker_id == second
    with pytest.raises(errors.StickerNotInPack):
        set_cover(pack.pack_key, "nobody", owner_jid=OWNER)


def test_somebody_elses_pack_is_refused() -> None:
    with pytest.raises(errors.NotPackOwner):
        edit_pack(make_pack().pack_key, owner_jid="5521912345678@s.whatsapp.net", name="x")


def test_packs_are_changed_over_the_api(api_as: Callable[..., APIClient]) -> None:
    pack = make_pack(stickers=3)
    a, b, c = order_of(pack)
    api, address = api_as(Scope.PACKS_WRITE), f"/api/v1/packs/{pack.pack_key}"
    assert api.patch(address, {"name": "New"}).json()["name"] == "New"
    shown = api.put(f"{address}/order", {"sticker_ids": [c, b, a]}).json()
    assert [row["sticker_id"] for row in shown["stickers"]] == [c, b, a]
    assert api.put(f"{address}/cover", {"sticker_id": b}).status_code == 200
    assert len(api.delete(f"{address}/stickers/{a}").json()["stickers"]) == 2
    assert api.delete(address).status_code == 204
    assert api.get(address).status_code == 404
