"""Packs over the API: the ranked catalogue, one pack, new packs and stickers."""

from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status, viewsets
from rest_framework.decorators import action
from rest_framework.parsers import FormParser, JSONParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import PUBLIC, Access
from apps.common.scopes import Scope
from apps.stickers import catalogue, queries
from apps.stickers.api import serializers
from apps.stickers.api.answers import conditional, rendered
from apps.stickers.api.callers import visitor_behind
from apps.stickers.api.throttles import AddressThrottle, CallerThrottle
from apps.stickers.catalogue import Wish
from apps.stickers.conversion import MAX_SOURCE_BYTES, to_sticker
from apps.stickers.images import read_sticker
from apps.stickers.services import editing, packs

WRITE = Access(scope=Scope.PACKS_WRITE, permission="stickers.add_stickerpack", person=True)
API_OWNER = "api@pombo"


@extend_schema(tags=["packs"])
class PackViewSet(viewsets.ViewSet):
    """Sticker packs by their key."""

    access = {
        "list": PUBLIC,
        "retrieve": PUBLIC,
        "create": WRITE,
        "partial_update": WRITE,
        "destroy": WRITE,
        "stickers": WRITE,
        "remove_sticker": WRITE,
        "order": WRITE,
        "cover": WRITE,
    }
    lookup_field = "pack_key"
    lookup_value_regex = "[a-z0-9-]+"
    parser_classes = [JSONParser, MultiPartParser, FormParser]
    throttle_classes = [AddressThrottle, CallerThrottle]

    @extend_schema(
        parameters=[serializers.CatalogueQuerySerializer],
        responses=serializers.PackSerializer(many=True),
    )
    def list(self, request: Request) -> HttpResponse:
        """A page of the catalogue; follow `next_cursor` until it is null."""
        wish = serializers.CatalogueQuerySerializer(data=request.query_params)
        wish.is_valid(raise_exception=True)
        return conditional(request, _listing(request, wish.to_wish()))

    @extend_schema(responses=serializers.PackDetailSerializer)
    def retrieve(self, request: Request, pack_key: str) -> HttpResponse:
        """One pack with its stickers; owners and readers of all packs see hidden ones too."""
        pack = queries.visible_pack(
            pack_key, owner_jid=_owner(request), sees_all=_may_read_all(request)
        )
        reads_snapshots = catalogue.reads_snapshots(visitor_behind(request).actor_key)
        scores = catalogue.shown_scores([pack], reads_snapshots=reads_snapshots, now=timezone.now())
        shown = serializers.PackDetailSerializer(pack, context={"scores": scores}).data
        return conditional(request, rendered(shown), is_public=False)

    @extend_schema(
        request=serializers.NewPackSerializer,
        responses={201: serializers.PackDetailSerializer},
    )
    def create(self, request: Request) -> Response:
        """Create an empty pack."""
        wish = serializers.NewPackSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        values: dict[str, Any] = dict(wish.validated_data)
        named = values.pop("owner_jid", None)
        owner_jid = _owner(request) or named
        # What operators make for themselves belongs to no author and has no limit.
        create = packs.create_own_pack if owner_jid else packs.create_pack
        pack = create(owner_jid=owner_jid or API_OWNER, **values)
        data = serializers.PackDetailSerializer(pack).data
        return Response(data, status=status.HTTP_201_CREATED)

    @extend_schema(
        request=serializers.NewStickerSerializer,
        responses={201: serializers.StickerSerializer},
    )
    @action(detail=True, methods=["post"])
    def stickers(self, request: Request, pack_key: str) -> Response:
        """Put an image at the end of the pack; with `convert`, other formats are made to fit."""
        wish = serializers.NewStickerSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        data = wish.validated_data["file"].read(MAX_SOURCE_BYTES + 1)
        image = to_sticker(data) if wish.validated_data["convert"] else read_sticker(data)
        item = packs.add_sticker(
            pack_key,
            image,
            owner_jid=_owner(request),
            emojis=wish.validated_data.get("emojis", ()),
            label=wish.validated_data.get("accessibility_label", ""),
        )
        data = serializers.StickerSerializer(item).data
        return Response(data, status=status.HTTP_201_CREATED)

    @extend_schema(
        request=serializers.EditedPackSerializer, responses=serializers.PackDetailSerializer
    )
    def partial_update(self, request: Request, pack_key: str) -> Response:
        """Rename, describe, show or hide a pack."""
        wish = serializers.EditedPackSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        pack = editing.edit_pack(pack_key, owner_jid=_owner(request), **wish.validated_data)
        return Response(serializers.PackDetailSerializer(pack).data)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pack_key: str) -> Response:
        """Delete a pack; its stickers stay with other packs that show them."""
        editing.delete_pack(pack_key, owner_jid=_owner(request))
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(responses=serializers.PackDetailSerializer)
    @action(detail=True, methods=["delete"], url_path=r"stickers/(?P<sticker_id>[0-9a-f-]{36})")
    def remove_sticker(self, request: Request, pack_key: str, sticker_id: str) -> Response:
        """Take a sticker out of the pack."""
        pack = editing.remove_sticker(pack_key, sticker_id, owner_jid=_owner(request))
        return Response(serializers.PackDetailSerializer(pack).data)

    @extend_schema(request=serializers.OrderSerializer, responses=serializers.PackDetailSerializer)
    @action(detail=True, methods=["put"])
    def order(self, request: Request, pack_key: str) -> Response:
        """Put stickers in an order; those not named follow."""
        wish = serializers.OrderSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        ids = wish.validated_data["sticker_ids"]
        pack = editing.reorder_stickers(pack_key, ids, owner_jid=_owner(request))
        return Response(serializers.PackDetailSerializer(pack).data)

    @extend_schema(request=serializers.CoverSerializer, responses=serializers.PackDetailSerializer)
    @action(detail=True, methods=["put"])
    def cover(self, request: Request, pack_key: str) -> Response:
        """Choose the cover."""
        wish = serializers.CoverSerializer(data=request.data)
        wish.is_valid(raise_exception=True)
        chosen = wish.validated_data["sticker_id"]
        pack = editing.set_cover(pack_key, chosen, owner_jid=_owner(request))
        return Response(serializers.PackDetailSerializer(pack).data)


def _listing(request: Request, wish: Wish) -> bytes:
    """The bytes of a page; the first pages that everybody asks for are kept for a moment.

    What visitors type never becomes a key: searches and cursors are read each time.
    """
    reads_snapshots = catalogue.reads_snapshots(visitor_behind(request).actor_key)
    seconds = settings.CATALOGUE_CACHE_SECONDS
    is_common = not (wish.search or wish.cursor or wish.categories or wish.publisher)
    key = f"catalogue:{reads_snapshots}:{wish.sort}:{wish.visibility}:{wish.limit}"
    key += f":{wish.include_sensitive}"
    kept: bytes | None = cache.get(key) if seconds and is_common else None
    if kept is not None:
        return kept
    page = catalogue.catalogue_page(wish)
    scores = catalogue.shown_scores(page.packs, reads_snapshots=reads_snapshots, now=timezone.now())
    rows = serializers.PackSerializer(page.packs, many=True, context={"scores": scores}).data
    body = rendered({"results": rows, "next_cursor": page.next_cursor})
    if seconds and is_common:
        cache.set(key, body, seconds)
    return body


def _owner(request: Request) -> str | None:
    """The owner that a signed-in person acts as; None for tokens and staff, who act for anybody."""
    return getattr(request.user, "owner_jid", None) or None


def _may_read_all(request: Request) -> bool:
    scopes = getattr(request.auth, "scopes", None)
    if scopes is not None:
        return Scope.PACKS_READ in scopes or Scope.PACKS_WRITE in scopes
    return bool(request.user and request.user.has_perm("stickers.view_stickerpack"))
