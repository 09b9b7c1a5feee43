"""The catalogue as a whole: its order, its cursors, its filters, its scores."""

import random
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from apps.flags.testing import override_flag
from apps.stickers.catalogue import SORTS, Wish, catalogue_page
from apps.stickers.models import (
    AssetClassification,
    PackEngagement,
    PackModeration,
    PackScoreSnapshot,
    PackTag,
    StickerPack,
)
from apps.stickers.services.snapshots import refresh_snapshots
from tests.stickers.factories import make_pack
from tests.waiting import wait_until

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FLAG = "enable_ranking_snapshot_read"

pytestmark = pytest.mark.django_db


def many_packs(count: int) -> list[str]:
    """So many ranked packs without stickers, with scores that collide."""
    rng = random.Random(5)
    ids = [str(uuid.UUID(int=rng.getrandbits(128), version=4)) for _number in range(count)]
    StickerPack.objects.bulk_create(
        StickerPack(
            id=pk, owner_jid="b@x", name=f"Pack {n}", publisher="B", pack_key=f"b-{n}",
            visibility="public", created_at=NOW - timedelta(seconds=n // 7),
        )
        for n, pk in enumerate(ids)
    )  # fmt: skip
    PackScoreSnapshot.objects.bulk_create(
        PackScoreSnapshot(pack_id=pk, ranking_score=Decimal(rng.randrange(200)) / 1000)
        for pk in ids
    )
    PackEngagement.objects.bulk_create(
        PackEngagement(pack_id=pk, like_count=rng.randrange(9)) for pk in ids
    )
    return ids


def walk(**wish: Any) -> Iterator[list[str]]:
    """The ids of each page until the end."""
    cursor: str | None = ""
    while cursor is not None:
        page = catalogue_page(Wish(**wish, cursor=cursor or None))
        yield [pack.pk for pack in page.packs]
        cursor = page.next_cursor


def ranked(**values: Any) -> StickerPack:
    pack = make_pack(**{"stickers": 1} | values)
    refresh_snapshots([pack.pk], now=timezone.now())
    return pack


def names(api: APIClient, query: str) -> list[str]:
    return [row["name"] for row in api.get(f"/api/v1/packs?{query}").json()["results"]]


@pytest.mark.parametrize("sort", list(SORTS))
def test_s7_every_pack_is_met_exactly_once(sort: str) -> None:
    ids = many_packs(300)
    met = [pk for page in walk(sort=sort, limit=7) for pk in page]
    assert sorted(met) == sorted(ids)


def test_a_walk_while_packs_change_meets_each_unchanged_pack_once() -> None:
    ids = many_packs(3000)
    rng = random.Random(11)
    moved: set[str] = set()
    met: list[str] = []
    for page in walk(sort="popular", limit=60):
        met += page
        for pk in rng.sample(ids, 12):  # some rise past the cursor, some fall behind it
            score = Decimal(rng.randrange(200)) / 1000
            PackScoreSnapshot.objects.filter(pk=pk).update(ranking_score=score)
            moved.add(pk)
    steady = set(ids) - moved
    assert len(steady) > 1500
    assert sorted(pk for pk in met if pk in steady) == sorted(steady)


def test_s6_the_order_holds_over_all_pages() -> None:
    many_packs(200)
    met = [pk for page in walk(sort="popular", limit=9) for pk in page]
    scores = PackScoreSnapshot.objects.in_bulk(met)
    found = [scores[pk].ranking_score for pk in met]
    assert found == sorted(found, reverse=True)


def test_packs_without_a_date_come_last_and_are_met() -> None:
    ids = many_packs(20)
    StickerPack.objects.filter(pk__in=ids[:5]).update(created_at=None)
    pages = list(walk(sort="new", limit=3))
    met = [pk for page in pages for pk in page]
    assert sorted(met) == sorted(ids)
    assert set(met[-5:]) == set(ids[:5])


def test_filters_by_publisher_and_category(anonymous_api: APIClient) -> None:
    cups, dogs = ranked(name="cups", publisher="Ana"), ranked(name="dogs", publisher="Bia")
    PackTag.objects.create(pack=cups, tag="anime")
    PackTag.objects.create(pack=dogs, tag="game")
    assert names(anonymous_api, "publisher=Ana") == ["cups"]
    assert names(anonymous_api, "categories=anime") == ["cups"]
    assert set(names(anonymous_api, "categories=anime,game")) == {"cups", "dogs"}
    assert names(anonymous_api, "categories=anime&publisher=Bia") == []


def test_a_filter_that_many_pass_is_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.stickers.catalogue.FEW", 3)
    ids = many_packs(12)
    PackTag.objects.bulk_create(PackTag(pack_id=pk, tag="anime") for pk in ids[:8])
    met = [pk for page in walk(categories=("anime",), publisher="B", limit=3) for pk in page]
    assert sorted(met) == sorted(ids[:8])


def test_more_than_twenty_categories_are_refused(anonymous_api: APIClient) -> None:
    tags = ",".join(f"t{number}" for number in range(21))
    assert anonymous_api.get(f"/api/v1/packs?categories={tags}").status_code == 400


def test_tags_of_a_snapshot_become_filters_and_go_with_it() -> None:
    pack = make_pack(stickers=1)
    shown = AssetClassification(asset=pack.cover_sticker, category="cartoon")
    shown.all_scores = {"cartoon": 0.9}
    shown.save()
    refresh_snapshots([pack.pk], now=NOW)
    assert list(pack.tag_rows.values_list("tag", flat=True)) == ["cartoon"]
    shown.category, shown.all_scores = "anime illustration", {"anime illustration": 0.9}
    shown.save()
    refresh_snapshots([pack.pk], now=NOW)
    assert list(pack.tag_rows.values_list("tag", flat=True)) == ["anime"]
    StickerPack.objects.update(visibility="private")
    refresh_snapshots([pack.pk], now=NOW)
    assert not PackTag.objects.exists()


def test_sensitive_packs_are_left_out_when_asked(anonymous_api: APIClient) -> None:
    mild, strong = ranked(name="mild"), make_pack(name="strong", stickers=1)
    AssetClassification.objects.create(asset=strong.cover_sticker, nsfw_score=0.9, is_nsfw=True)
    refresh_snapshots([mild.pk, strong.pk], now=timezone.now())
    assert set(names(anonymous_api, "")) == {"mild", "strong"}
    assert names(anonymous_api, "include_sensitive=false") == ["mild"]


# A full-text index knows only what is committed, so this cannot roll back.
@pytest.mark.django_db(transaction=True)
def test_words_find_packs(anonymous_api: APIClient) -> None:
    ranked(name="Weather in Minas", publisher="Ana", description="Clouds of all kinds")
    ranked(name="Café", publisher="Joana")
    for words, expected in {
        "weath": ["Weather in Minas"],
        "minas weather": ["Weather in Minas"],
        "in": ["Weather in Minas"],
        "weather of": ["Weather in Minas"],
        "café": ["Café"],
        "joana": ["Café"],
        '+-*()~<>"@': [],
        "nothing like it": [],
        "minas joana": [],
    }.items():
        found = anonymous_api.get("/api/v1/packs", {"q": words}).json()["results"]
        assert [row["name"] for row in found] == expected, words


def test_hidden_packs_are_in_no_list(anonymous_api: APIClient) -> None:
    pack = ranked(name="seen")
    PackModeration.objects.create(pack=pack, is_hidden=True)
    assert names(anonymous_api, "") == []
    assert anonymous_api.get(f"/api/v1/packs/{pack.pack_key}").status_code == 404


def test_with_the_flag_on_signals_are_those_of_the_snapshot(anonymous_api: APIClient) -> None:
    pack = ranked()
    PackEngagement.objects.filter(pack=pack).update(like_count=50)
    signals = anonymous_api.get("/api/v1/packs").json()["results"][0]["signals"]
    assert (signals["source"], signals["engagement_score"]) == ("snapshot", 0)
    snapshot = PackScoreSnapshot.objects.get(pack=pack)
    assert signals["refreshed_at"] == snapshot.refreshed_at.isoformat()


def test_with_the_flag_off_signals_are_live_and_the_order_is_of_the_snapshot(
    anonymous_api: APIClient,
) -> None:
    low, high = ranked(name="low"), ranked(name="high")
    PackScoreSnapshot.objects.filter(pack=high).update(ranking_score=2)
    PackEngagement.objects.filter(pack=low).update(like_count=50)
    with override_flag(FLAG, is_enabled=False):
        rows = anonymous_api.get("/api/v1/packs").json()["results"]
    assert [row["name"] for row in rows] == ["high", "low"]
    assert [row["signals"]["source"] for row in rows] == ["live", "live"]
    assert rows[1]["signals"]["engagement_score"] == 1


def test_s4_a_snapshot_far_too_old_or_of_another_version_is_not_believed(
    anonymous_api: APIClient, settings: Any
) -> None:
    pack = ranked()
    for change in (
        {"refreshed_at": timezone.now() - timedelta(days=2)},
        {"refreshed_at": timezone.now(), "source_version": "v0"},
    ):
        PackScoreSnapshot.objects.filter(pack=pack).update(**change)
        signals = anonymous_api.get(f"/api/v1/packs/{pack.pack_key}").json()["signals"]
        assert signals["source"] == "live"


@pytest.mark.parametrize("is_enabled", [True, False])
def test_s5_a_list_takes_the_same_queries_for_one_pack_and_for_thirty(
    anonymous_api: APIClient, django_assert_num_queries: Any, is_enabled: bool
) -> None:
    refresh_snapshots([make_pack(stickers=1).pk for _number in range(30)], now=timezone.now())
    anonymous_api.get("/api/v1/packs?limit=1")
    with override_flag(FLAG, is_enabled=is_enabled):
        for limit in (1, 30):
            with django_assert_num_queries(2 if is_enabled else 6):
                anonymous_api.get(f"/api/v1/packs?limit={limit}")


def test_an_unchanged_answer_is_not_sent_again(anonymous_api: APIClient) -> None:
    pack = ranked()
    for path in ("/api/v1/packs", f"/api/v1/packs/{pack.pack_key}"):
        first = anonymous_api.get(path)
        again = anonymous_api.get(path, HTTP_IF_NONE_MATCH=first["ETag"])
        assert (again.status_code, again.content) == (304, b"")
    StickerPack.objects.update(name="renamed")
    assert anonymous_api.get(path, HTTP_IF_NONE_MATCH=first["ETag"]).status_code == 200


def test_c2_what_visitors_type_is_never_kept(anonymous_api: APIClient, settings: Any) -> None:
    settings.CATALOGUE_CACHE_SECONDS = 60
    ranked(name="old", publisher="Ana")
    assert names(anonymous_api, "publisher=Ana&limit=31") == ["old"]
    StickerPack.objects.update(name="older")
    assert names(anonymous_api, "publisher=Ana&limit=31") == ["older"]
    assert names(anonymous_api, "limit=31") == ["older"]
    StickerPack.objects.update(name="oldest")
    assert names(anonymous_api, "limit=31") == ["older"], "the common page is kept for a moment"


def test_c3_a_new_pack_is_seen_as_soon_as_the_moment_is_over(
    anonymous_api: APIClient, settings: Any
) -> None:
    settings.CATALOGUE_CACHE_SECONDS = 1
    ranked(name="first")
    assert names(anonymous_api, "limit=32") == ["first"]
    ranked(name="second")
    wait_until(lambda: len(names(anonymous_api, "limit=32")) == 2, seconds=5)


def test_a_throttled_list_says_when_to_come_back(anonymous_api: APIClient, settings: Any) -> None:
    settings.API_RATE_ANONYMOUS = "2/min"
    answers = [
        anonymous_api.get("/api/v1/packs", REMOTE_ADDR="10.9.8.7").status_code
        for _number in range(4)
    ]
    assert 429 in answers[2:]
    assert answers[0] == 200


# ANALYZE commits, so this cannot roll back.
@pytest.mark.django_db(transaction=True)
@pytest.mark.mysql
def test_a_page_is_read_in_index_order() -> None:
    many_packs(400)
    with connection.cursor() as cursor:
        for table in ("sticker_pack", "sticker_pack_score_snapshot", "sticker_pack_engagement"):
            cursor.execute(f"ANALYZE TABLE {table}")
            cursor.fetchall()
    from apps.stickers.catalogue import _listed, _ranked

    for sort in ("popular", "liked", "new"):
        rows = _ranked(SORTS[sort], _listed(Wish())).values_list("pk")[:25]
        assert "filesort" not in rows.explain()
