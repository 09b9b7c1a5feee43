"""The catalogue's front over the API: intents, creators, recommendations and totals."""

from collections.abc import Iterable
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import viewsets
from rest_framework.decorators import action
from rest_framework.request import Request

from apps.common.access import PUBLIC
from apps.stickers import catalogue, discovery, marketplace
from apps.stickers.api import serializers
from apps.stickers.api.answers import conditional, rendered
from apps.stickers.api.callers import visitor_behind
from apps.stickers.api.throttles import AddressThrottle, CallerThrottle
from apps.stickers.models import StickerPack


@extend_schema(tags=["packs"])
class DiscoveryViewSet(viewsets.ViewSet):
    """What to look at first."""

    access = {"*": PUBLIC}
    throttle_classes = [AddressThrottle, CallerThrottle]

    @extend_schema(parameters=[serializers.IntentsQuerySerializer], responses=OpenApiTypes.OBJECT)
    @action(detail=False)
    def intents(self, request: Request) -> HttpResponse:
        """Five collections: hot, new, growing, most liked, best rated."""
        asked = serializers.checked(serializers.IntentsQuerySerializer, request.query_params)
        found = discovery.intents(visibility=asked["visibility"], limit=asked["limit"])
        rows = {row["id"]: row for row in listed(request, found.packs.values())}
        data = {
            name: [rows[pk] | {"intent": _intent(found.packs[pk])} for pk in ids]
            for name, ids in found.collections.items()
        }
        return conditional(request, rendered({"data": data}))

    @extend_schema(parameters=[serializers.CreatorsQuerySerializer], responses=OpenApiTypes.OBJECT)
    @action(detail=False)
    def creators(self, request: Request) -> HttpResponse:
        """Publishers of the whole catalogue by the score of their packs and their visitors."""
        asked = serializers.checked(serializers.CreatorsQuerySerializer, request.query_params)
        ranked = discovery.creators(visibility=asked["visibility"], limit=asked["limit"])
        tops = [row.top_pack for row in ranked if row.top_pack]
        shown = {row["id"]: row for row in listed(request, tops)}
        data = [_creator_row(row, shown) for row in ranked]
        return conditional(request, rendered({"data": data}))

    @extend_schema(
        parameters=[serializers.VisibilityQuerySerializer], responses=OpenApiTypes.OBJECT
    )
    @action(detail=False)
    def stats(self, request: Request) -> HttpResponse:
        """Packs, stickers, creators and downloads, and the visitors of the last seven days."""
        asked = serializers.checked(serializers.VisibilityQuerySerializer, request.query_params)
        found = discovery.stats(visibility=asked["visibility"], now=timezone.now())
        return conditional(request, rendered({"data": found}))

    @extend_schema(
        parameters=[serializers.RecommendationsQuerySerializer], responses=OpenApiTypes.OBJECT
    )
    @action(detail=False)
    def recommendations(self, request: Request) -> HttpResponse:
        """Packs that the caller has not met, chosen by what they opened and liked of late."""
        asked = serializers.checked(
            serializers.RecommendationsQuerySerializer, request.query_params
        )
        visitor = visitor_behind(request)
        found = discovery.recommended(visitor.actor_key, limit=asked["limit"], now=timezone.now())
        meta = {
            "personalized": found.is_personalized,
            "inferred_affinity_tags": list(found.affinity_tags),
        }
        body = rendered({"data": listed(request, found.packs), "meta": meta})
        return conditional(request, body, is_public=False)


def listed(request: Request, packs: Iterable[StickerPack]) -> list[dict[str, Any]]:
    """Packs as lists show them, with the scores that the caller's flag says."""
    shown = list(packs)
    scores = catalogue.shown_scores(
        shown,
        reads_snapshots=catalogue.reads_snapshots(visitor_behind(request).actor_key),
        now=timezone.now(),
    )
    context = {"scores": scores}
    return list(serializers.PackSerializer(shown, many=True, context=context).data)


def _intent(pack: StickerPack) -> str:
    entry = discovery.entry_of(pack)
    return marketplace.intent_of(
        is_trending=entry.is_trending, pack_score=entry.pack_score, like_count=entry.like_count
    )


def _creator_row(row: discovery.RankedCreator, shown: dict[str, Any]) -> dict[str, Any]:
    creator = row.creator
    return {
        "publisher": creator.publisher,
        "creator_score": creator.creator_score,
        "verified": False,
        "badges": [],
        "stats": {
            "packs_count": creator.packs_count,
            "total_likes": creator.total_likes,
            "total_opens": creator.total_opens,
            "avg_pack_score": creator.avg_pack_score,
        },
        "top_pack": shown.get(creator.top_pack),
    }
