"""The catalogue and packs over the API."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from rest_framework.test import APIClient

from apps.common.scopes import Scope
from apps.stickers.api import serializers
from apps.stickers.models import StickerAsset, StickerPack
from apps.stickers.services.snapshots import refresh_snapshots
from tests.stickers.factories import make_pack, png_bytes, webp_bytes

pytestmark = pytest.mark.django_db

ApiAs = Callable[..., APIClient]


def upload(data: bytes, name: str = "sticker.webp") -> dict[str, Any]:
    return {"file": SimpleUploadedFile(name, data, "image/webp"), "emojis": ["🙂"]}


def rank(*packs: StickerPack) -> None:
    refresh_snapshots([pack.pk for pack in packs], now=timezone.now())


def test_a_pack_is_created_and_filled(api_as: ApiAs) -> None:
    api = api_as(Scope.PACKS_WRITE)
    made = api.post("/api/v1/packs", {"name": "Cups", "publisher": "Ana"}, format="json")
    assert made.status_code == 201
    key = made.json()["pack_key"]
    added = api.post(f"/api/v1/packs/{key}/stickers", upload(webp_bytes()), format="multipart")
    assert added.status_code == 201
    assert (added.json()["position"], added.json()["emojis"]) == (1, ["🙂"])
    detail = api.get(f"/api/v1/packs/{key}").json()
    assert [sticker["sha256"] for sticker in detail["stickers"]] == [added.json()["sha256"]]


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (webp_bytes(size=(600, 512)), "dimensions"),
        (png_bytes(), "format"),
        (webp_bytes()[:-9], "readable"),
        (bytes(3_000_000), "file_size"),
    ],
)
def test_a_bad_image_is_refused_with_its_rule_and_nothing_is_stored(
    api_as: ApiAs, data: bytes, rule: str
) -> None:
    pack = make_pack()
    api = api_as(Scope.PACKS_WRITE)
    answer = api.post(f"/api/v1/packs/{pack.pack_key}/stickers", upload(data), format="multipart")
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "sticker_refused"
    assert answer.json()["error"]["details"]["rule"] == rule
    assert not StickerAsset.objects.exists()


def test_writing_needs_the_scope(api_as: ApiAs, anonymous_api: APIClient) -> None:
    wish = {"name": "Cups", "publisher": "Ana"}
    assert anonymous_api.post("/api/v1/packs", wish).status_code == 401
    assert api_as(Scope.FLAGS_READ).post("/api/v1/packs", wish).status_code == 403


def test_the_list_is_ranked_over_the_whole_catalogue(anonymous_api: APIClient) -> None:
    better = make_pack(name="better", stickers=3)
    worse = make_pack(name="worse")
    rank(better, worse)
    rows = anonymous_api.get("/api/v1/packs?sort=popular").json()["results"]
    assert [row["name"] for row in rows] == ["better", "worse"]


def test_every_pack_is_met_once_by_following_the_cursor(anonymous_api: APIClient) -> None:
    packs = [make_pack(name=f"p{number}") for number in range(7)]
    rank(*packs)
    met, cursor = [], ""
    while cursor is not None:
        page = anonymous_api.get(f"/api/v1/packs?limit=3{cursor}").json()
        met += [row["name"] for row in page["results"]]
        cursor = page["next_cursor"] and f"&cursor={page['next_cursor']}"
    assert sorted(met) == [f"p{number}" for number in range(7)]


@pytest.mark.parametrize("sort", ["popular", "trending", "new", "liked", "downloads"])
def test_each_sort_pages_through_all(anonymous_api: APIClient, sort: str) -> None:
    rank(*[make_pack(name=f"p{number}") for number in range(3)])
    first = anonymous_api.get(f"/api/v1/packs?limit=2&sort={sort}").json()
    address = f"/api/v1/packs?limit=2&sort={sort}&cursor={first['next_cursor']}"
    second = anonymous_api.get(address).json()
    names = [row["name"] for row in first["results"] + second["results"]]
    assert sorted(names) == ["p0", "p1", "p2"]
    assert second["next_cursor"] is None


def test_a_cursor_of_another_order_is_refused(anonymous_api: APIClient) -> None:
    rank(*[make_pack() for _number in range(2)])
    cursor = anonymous_api.get("/api/v1/packs?limit=1").json()["next_cursor"]
    for bad in (cursor, "rubbish", "e30"):
        answer = anonymous_api.get(f"/api/v1/packs?sort=new&cursor={bad}")
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_cursor")


def test_a_list_takes_the_same_queries_for_one_pack_and_for_fifty(
    anonymous_api: APIClient, django_assert_num_queries: Any
) -> None:
    rank(*[make_pack(name=f"p{number}") for number in range(50)])
    for limit in (1, 50):
        with django_assert_num_queries(2):
            anonymous_api.get(f"/api/v1/packs?limit={limit}")


def test_private_packs_are_found_by_nobody_else(anonymous_api: APIClient, api_as: ApiAs) -> None:
    pack = make_pack(visibility="private", stickers=1)
    assert anonymous_api.get(f"/api/v1/packs/{pack.pack_key}").status_code == 404
    assert anonymous_api.get("/api/v1/packs?visibility=all").json()["results"] == []
    assert api_as(Scope.PACKS_READ).get(f"/api/v1/packs/{pack.pack_key}").status_code == 200


def test_unlisted_packs_are_listed_only_when_asked_for(anonymous_api: APIClient) -> None:
    rank(make_pack(visibility="unlisted"))
    assert anonymous_api.get("/api/v1/packs").json()["results"] == []
    assert len(anonymous_api.get("/api/v1/packs?visibility=all").json()["results"]) == 1


def test_a_visitor_likes_once_and_opens_often(anonymous_api: APIClient) -> None:
    pack = make_pack()
    for _time in range(2):
        for what in ("like", "open"):
            anonymous_api.post(f"/api/v1/packs/{pack.pack_key}/{what}", HTTP_X_VIEWER_KEY="v1")
    shown = anonymous_api.get(f"/api/v1/packs/{pack.pack_key}").json()["engagement"]
    assert (shown["like_count"], shown["open_count"]) == (1, 2)


def test_a_pack_has_the_fields_that_the_document_names(anonymous_api: APIClient) -> None:
    pack = make_pack(stickers=1)
    shown = anonymous_api.get(f"/api/v1/packs/{pack.pack_key}").json()
    assert list(shown) == serializers.PackDetailSerializer.Meta.fields
