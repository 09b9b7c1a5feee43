"""What packs allow: limits under locks, copies, tags, look-up, collecting, drafts."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from apps.common.errors import DomainError
from apps.common.scopes import Scope
from apps.outbox.models import OutboxEvent
from apps.stickers import errors, markers, texts
from apps.stickers.api.serializers import PackSerializer
from apps.stickers.models import StickerPack
from apps.stickers.own_queries import find_own_pack, pack_candidates
from apps.stickers.services import packs
from apps.stickers.services.collecting import collect_sticker
from apps.stickers.services.drafts import clean_drafts
from apps.stickers.services.editing import (
    delete_pack,
    edit_pack,
    remove_sticker_at,
    reorder_stickers,
    set_cover,
)
from tests.stickers.factories import OWNER, make_pack, sticker_image

pytestmark = pytest.mark.django_db
OTHER = "5521912345678@s.whatsapp.net"


def told(pack: StickerPack) -> list[str]:
    events = OutboxEvent.objects.filter(event_type="PACK_UPDATED", aggregate_id=pack.pk)
    return [event.payload["action"] for event in events.order_by("pk")]


def in_threads(count: int, call: Callable[[int], object]) -> list[str]:
    """Call at the same time on connections of their own; the error codes of those refused."""
    barrier = Barrier(count)

    def run(number: int) -> str:
        barrier.wait()
        try:
            call(number)
        except DomainError as refusal:
            return refusal.code
        finally:
            connection.close()
        return ""

    with ThreadPoolExecutor(count) as pool:
        return [code for code in pool.map(run, range(count)) if code]


@pytest.mark.django_db(transaction=True)
def test_p1_concurrent_adds_never_exceed_the_pack_limit(settings: Any) -> None:
    settings.STICKER_PACK_MAX_ITEMS = 4
    pack, images = make_pack(), [sticker_image() for _number in range(8)]
    refused = in_threads(
        8, lambda number: packs.add_sticker(pack.pack_key, images[number], owner_jid=OWNER)
    )
    assert refused == ["pack_limit_reached"] * 4
    assert list(pack.items.order_by("position").values_list("position", flat=True)) == [1, 2, 3, 4]


@pytest.mark.django_db(transaction=True)
def test_p1_concurrent_creators_never_exceed_the_owners_limit(settings: Any) -> None:
    settings.STICKER_PACK_MAX_PACKS_PER_OWNER = 3
    refused = in_threads(
        6, lambda _number: packs.create_own_pack(owner_jid=OWNER, name="A", publisher="B")
    )
    assert refused == ["pack_limit_reached"] * 3
    assert StickerPack.objects.count() == 3


def test_p1_a_clone_counts_against_the_owners_limit(settings: Any) -> None:
    settings.STICKER_PACK_MAX_PACKS_PER_OWNER = 1
    pack = make_pack(stickers=1)
    with pytest.raises(errors.TooManyPacks):
        packs.clone_pack(pack.pack_key, owner_jid=OWNER)
    settings.STICKER_PACK_MAX_PACKS_PER_OWNER = 0
    assert packs.clone_pack(pack.pack_key, owner_jid=OWNER)


def test_deleted_packs_do_not_count(settings: Any) -> None:
    settings.STICKER_PACK_MAX_PACKS_PER_OWNER = 1
    delete_pack(make_pack().pack_key, owner_jid=OWNER)
    assert packs.create_own_pack(owner_jid=OWNER, name="A", publisher="B")


def test_a_clone_has_everything_but_the_key() -> None:
    pack = make_pack(stickers=3, description="Cups", tags=["tea"], visibility="unlisted")
    set_cover(pack.pack_key, pack.items.get(position=2).sticker_id, owner_jid=OWNER)
    copy = packs.clone_pack(pack.pack_key, owner_jid=OWNER, name="Copy")
    pack.refresh_from_db()
    fields = ("publisher", "description", "visibility", "cover_sticker_id", "owner_jid")
    assert [getattr(copy, name) for name in fields] == [getattr(pack, name) for name in fields]
    assert (copy.name, copy.pack_key != pack.pack_key) == ("Copy", True)
    places = [
        list(each.items.order_by("position").values_list("sticker_id", "position"))
        for each in (pack, copy)
    ]
    assert places[0] == places[1]
    assert told(copy) == ["created", "version_bumped"]


def test_only_own_packs_are_cloned() -> None:
    with pytest.raises(errors.NotPackOwner):
        packs.clone_pack(make_pack().pack_key, owner_jid=OTHER)


def test_tags_are_kept_in_the_description_and_hidden_from_readers() -> None:
    pack = make_pack(description="Nice cups")
    edit_pack(pack.pack_key, owner_jid=OWNER, tags=["Chá Preto", "tea", "tea", " "])
    pack.refresh_from_db()
    assert pack.description == "Nice cups [pack-tags:cha-preto,tea]"
    assert (pack.shown_description, pack.manual_tags) == ("Nice cups", ["cha-preto", "tea"])
    assert PackSerializer(pack).data["description"] == "Nice cups"
    edit_pack(pack.pack_key, owner_jid=OWNER, description="Other [pack-tags:fake]")
    pack.refresh_from_db()
    assert pack.description == "Other [pack-tags:cha-preto,tea]"


def test_a_theme_of_the_curation_survives_an_edit() -> None:
    pack = make_pack()
    StickerPack.objects.filter(pk=pack.pk).update(description="A [auto-theme:cats] [pack-tags:x]")
    edit_pack(pack.pack_key, owner_jid=OWNER, description="B")
    pack.refresh_from_db()
    assert markers.parse(pack.description) == markers.Description("B", ("x",), "cats")


def test_at_most_eight_tags_are_kept() -> None:
    assert len(markers.clean_tags(f"tag {number}" for number in range(20))) == 8


def test_p7_line_breaks_separate_words() -> None:
    assert make_pack(name="a\nb", description="c\r\nd").shown_description == "c d"


def test_an_unknown_visibility_is_public_when_new_and_refused_when_changed() -> None:
    pack = make_pack(visibility="secret", status="odd")
    assert (pack.visibility, pack.status) == ("public", "published")
    with pytest.raises(errors.UnknownVisibility):
        edit_pack(pack.pack_key, owner_jid=OWNER, visibility="secret")


def test_e3_every_change_raises_the_version_and_is_told() -> None:
    pack = make_pack(stickers=4)
    second = pack.items.get(position=2).sticker_id
    changes: list[Callable[[], object]] = [
        lambda: edit_pack(pack.pack_key, owner_jid=OWNER, name="New"),
        lambda: edit_pack(pack.pack_key, owner_jid=OWNER, visibility="unlisted"),
        lambda: edit_pack(pack.pack_key, owner_jid=OWNER, tags=["a"]),
        lambda: set_cover(pack.pack_key, second, owner_jid=OWNER),
        lambda: reorder_stickers(pack.pack_key, [second], owner_jid=OWNER),
        lambda: remove_sticker_at(pack.pack_key, 1, owner_jid=OWNER),
        lambda: delete_pack(pack.pack_key, owner_jid=OWNER),
    ]
    for change in changes:
        version, count = StickerPack.objects.get(pk=pack.pk).version, len(told(pack))
        change()
        assert StickerPack.objects.get(pk=pack.pk).version == version + 1
        assert len(told(pack)) == count + 1


def test_a_key_is_a_slug_and_five_characters_and_never_used_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pack = make_pack(name="Ação!")
    assert pack.pack_key.startswith("acao-")
    delete_pack(pack.pack_key, owner_jid=OWNER)
    monkeypatch.setattr(texts, "new_pack_key", lambda _name: pack.pack_key)
    with pytest.raises(errors.KeySpaceExhausted):
        make_pack(name="Ação!")


@pytest.mark.parametrize(
    "text", ["{key}", " {KEY}. ", "{_key}", "see https://x.example/stickers/{key}!", "{id}"]
)
def test_an_own_pack_is_found_by_what_people_write(text: str) -> None:
    pack = make_pack(name="My cups")
    key = pack.pack_key
    written = text.format(key=key, KEY=key.upper(), _key=key.replace("-", "_"), id=pack.pk)
    assert find_own_pack(OWNER, written) == pack


def test_a_name_finds_the_newest_and_never_a_strangers() -> None:
    older, newer = make_pack(name="Cups"), make_pack(name="Cups")
    StickerPack.objects.filter(pk=older.pk).update(created_at=timezone.now() - timedelta(days=1))
    assert find_own_pack(OWNER, "cups") == newer
    with pytest.raises(errors.PackNotFound):
        find_own_pack(OTHER, "cups")


def test_nothing_written_means_nothing() -> None:
    assert pack_candidates(" .!") == []


def test_p4_collecting_never_changes_a_packs_visibility() -> None:
    shown, hidden = make_pack(visibility="public"), make_pack(visibility="private")
    item = collect_sticker(sticker_image(), owner_jid=OWNER, publisher="Ana")
    for pack, visibility in ((shown, "public"), (hidden, "private")):
        pack.refresh_from_db()
        assert (pack.visibility, pack.items.count()) == (visibility, 0)
    assert (item.pack.visibility, item.pack.name) == ("unlisted", "pack")


def test_collecting_fills_the_unlisted_pack_and_rolls_over(settings: Any) -> None:
    settings.STICKER_PACK_MAX_ITEMS = 3
    found = [
        collect_sticker(sticker_image(), owner_jid=OWNER, publisher="Ana").pack.name
        for _number in range(5)
    ]
    assert found == ["pack"] * 3 + ["pack 2"] * 2


def test_moving_stickers_are_collected_beside_still_ones() -> None:
    still = collect_sticker(sticker_image(), owner_jid=OWNER, publisher="Ana")
    moving = collect_sticker(sticker_image(frames=2), owner_jid=OWNER, publisher="Ana")
    assert still.pack_id != moving.pack_id


def test_e3_resting_drafts_without_stickers_are_deleted_and_told() -> None:
    now = timezone.now()
    resting, filled = make_pack(status="draft"), make_pack(status="draft", stickers=1)
    published = make_pack()
    StickerPack.objects.update(updated_at=now - timedelta(hours=25))
    fresh = make_pack(status="draft")
    assert clean_drafts(now=now) == 1
    assert set(StickerPack.objects.filter(deleted_at=None)) == {filled, published, fresh}
    assert told(resting) == ["created", "deleted"]
    assert clean_drafts(now=now) == 0


def test_the_api_clones_collects_and_finds(api_as: Callable[..., APIClient]) -> None:
    api = api_as(Scope.PACKS_WRITE, Scope.PACKS_READ)
    pack = make_pack(stickers=3, name="Cups")
    copied = api.post(f"/api/v1/packs/{pack.pack_key}/clone", {"name": "Copy"}, format="json")
    assert (copied.status_code, copied.json()["name"]) == (201, "Copy")
    found = api.get("/api/v1/own-packs", {"owner_jid": OWNER, "text": "cups"})
    assert [row["pack_key"] for row in found.json()["results"]] == [pack.pack_key]
    listed = api.get("/api/v1/own-packs", {"owner_jid": OWNER})
    assert len(listed.json()["results"]) == 2
    assert api.get("/api/v1/own-packs", {"owner_jid": OTHER}).json()["results"] == []
