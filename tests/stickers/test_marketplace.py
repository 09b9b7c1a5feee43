"""Collections, creators and recommendations are those of the original."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.test import APIClient

from apps.stickers import marketplace
from apps.stickers.choices import Interaction
from apps.stickers.marketplace import Entry
from apps.stickers.models import PackEngagement, PackScoreSnapshot, StickerPack
from apps.stickers.services.engagement import record_interaction
from apps.stickers.services.snapshots import refresh_snapshots
from tests.stickers.factories import make_pack

VECTORS = json.loads((Path(__file__).parent.parent / "data/marketplace_vectors.json").read_text())[
    "vectors"
]["d_marketplace"]
INTENTS, CREATORS, RECOMMENDED = (
    [vector for vector in VECTORS if name in vector["fn"]]
    for name in ("IntentCollections", "CreatorRanking", "Recommendations")
)
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def entries_of(rows: Sequence[dict[str, Any]]) -> list[Entry]:
    return [
        Entry(
            pack_id=row["pack"]["id"],
            publisher=row["pack"]["publisher"],
            updated_at=datetime.fromisoformat(row["pack"]["updated_at"]),
            like_count=row["engagement"]["like_count"],
            dislike_count=row["engagement"]["dislike_count"],
            open_count=row["engagement"]["open_count"],
            ranking_score=row["signals"]["ranking_score"],
            pack_score=row["signals"]["pack_score"],
            trend_score=row["signals"]["trend_score"],
            is_trending=row["signals"]["trending_now"],
            nsfw_level=row["signals"]["nsfw_level"],
            tags=row["packClassification"]["tags"],
        )
        for row in rows
    ]


@pytest.mark.parametrize("vector", INTENTS, ids=lambda vector: f"limit-{vector['input']['limit']}")
def test_collections_are_those_of_the_original(vector: dict[str, Any]) -> None:
    given_ = vector["input"]
    entries = entries_of(given_["entries"])
    assert marketplace.intent_collections(entries, limit=given_["limit"]) == vector["output"]


@pytest.mark.parametrize("vector", CREATORS, ids=["creators"])
def test_creators_are_those_of_the_original(vector: dict[str, Any]) -> None:
    found = marketplace.creator_ranking(entries_of(vector["input"]["entries"]))
    rows = [asdict(creator) | {"verified": False} for creator in found]
    for row in rows:
        del row["creator_score"]
    assert rows == vector["output"]


@pytest.mark.parametrize("vector", RECOMMENDED, ids=["recommendations"])
def test_recommendations_are_those_of_the_original(vector: dict[str, Any]) -> None:
    given_ = vector["input"]
    viewed = {row["pack_id"]: row["interactions"] for row in given_["viewerEntries"]}
    tags = {pk: found["tags"] for pk, found in given_["classificationById"].items()}
    affinity = marketplace.tag_affinity(viewed, tags)
    chosen = marketplace.recommendations(
        entries_of(given_["entries"]), affinity, exclude=given_["exclude"], limit=given_["limit"]
    )
    assert {"affinity": affinity, "ids": chosen} == vector["output"]


@pytest.mark.parametrize(
    ("is_trending", "score", "likes", "intent"),
    [
        (True, 0.9, 50, "crescendo_agora"),
        (False, 0.65, 50, "em_alta"),
        (False, 0.64, 12, "mais_curtidos"),
        (False, 0.64, 11, "novos"),
    ],
)
def test_a_pack_has_one_intent(is_trending: bool, score: float, likes: int, intent: str) -> None:
    found = marketplace.intent_of(is_trending=is_trending, pack_score=score, like_count=likes)
    assert found == intent


levels = st.sampled_from(["safe", "suggestive", "explicit"])


@given(st.lists(st.tuples(levels, st.booleans()), max_size=30), st.integers(-5, 99))
def test_only_growing_collections_hold_sensitive_packs(
    drawn: list[tuple[str, bool]], limit: int
) -> None:
    entries = [
        Entry(str(place), nsfw_level=level, is_trending=grows)
        for place, (level, grows) in enumerate(drawn)
    ]
    safe = {entry.pack_id for entry in entries if entry.is_safe}
    for name, ids in marketplace.intent_collections(entries, limit=limit).items():
        assert len(ids) <= marketplace.MAX_LIMIT
        assert name == "crescendo_agora" or set(ids) <= safe


def ranked(**values: Any) -> StickerPack:
    pack = make_pack(stickers=1, **values)
    refresh_snapshots([pack.pk], now=timezone.now())
    return pack


def score(pack: StickerPack, value: float) -> None:
    PackScoreSnapshot.objects.filter(pack=pack).update(pack_score=value)


@pytest.mark.django_db
def test_creators_count_the_whole_catalogue(anonymous_api: APIClient) -> None:
    first, second = ranked(publisher="Ana"), ranked(publisher=" ana ")
    other, hidden = ranked(publisher="Bia"), make_pack(publisher="Zoe", visibility="private")
    for pack, value in ((first, 0.4), (second, 0.6), (other, 0.9)):
        score(pack, value)
    PackEngagement.objects.filter(pack=first).update(like_count=10, open_count=100)
    rows = anonymous_api.get("/api/v1/packs/creators").json()["data"]
    assert [row["publisher"] for row in rows] == ["Bia", "ana"]
    assert rows[1]["stats"] == {
        "packs_count": 2, "total_likes": 10, "total_opens": 100, "avg_pack_score": 0.5
    }  # fmt: skip
    assert rows[1]["creator_score"] == pytest.approx(0.45 * 0.5 + 0.008 + 0.015)
    assert rows[1]["top_pack"]["id"] == second.pk
    assert hidden.publisher not in {row["publisher"] for row in rows}


@pytest.mark.django_db
def test_totals_count_what_is_listed(anonymous_api: APIClient) -> None:
    pack = ranked(publisher="Ana")
    make_pack(visibility="private")
    record_interaction(pack, Interaction.OPEN, actor_key="v", now=timezone.now())
    totals = anonymous_api.get("/api/v1/packs/stats").json()["data"]
    assert (totals["packs_total"], totals["stickers_total"]) == (1, 1)
    assert (totals["creators_total"], totals["downloads_total"]) == (1, 1)
    assert len(totals["series"]) == 7
    assert totals["series"][-1]["opens"] == 1


@pytest.mark.django_db
def test_intents_name_packs_of_the_whole_catalogue(anonymous_api: APIClient) -> None:
    liked, plain = ranked(name="liked"), ranked(name="plain")
    PackEngagement.objects.filter(pack=liked).update(like_count=12)
    data = anonymous_api.get("/api/v1/packs/intents").json()["data"]
    assert set(data) == {
        "em_alta", "novos", "crescendo_agora", "mais_curtidos", "melhor_avaliados"
    }  # fmt: skip
    assert [row["name"] for row in data["mais_curtidos"]] == ["liked", "plain"]
    assert data["mais_curtidos"][0]["intent"] == "mais_curtidos"
    assert {row["id"] for row in data["novos"]} == {liked.pk, plain.pk}


@pytest.mark.django_db
def test_recommendations_leave_out_what_the_visitor_met(anonymous_api: APIClient) -> None:
    met, new = ranked(name="met"), ranked(name="new")
    assert anonymous_api.post(f"/api/v1/packs/{met.pack_key}/open").json()["counted"]
    answer = anonymous_api.get("/api/v1/packs/recommendations").json()
    assert [row["id"] for row in answer["data"]] == [new.pk]


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["intents", "creators", "stats", "recommendations"])
def test_the_front_takes_no_more_queries_for_twenty_packs_than_for_one(
    anonymous_api: APIClient, path: str, django_assert_max_num_queries: Any
) -> None:
    ranked()
    counts = []
    for _round in range(2):
        with django_assert_max_num_queries(14) as queries:
            assert anonymous_api.get(f"/api/v1/packs/{path}").status_code == 200
        counts.append(len(queries))
        refresh_snapshots([make_pack(stickers=1).pk for _number in range(19)], now=timezone.now())
    assert counts[1] <= counts[0]
